import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Ending, History } from './history.ts'

/** Writes the actions of an agent in one protocol. `name` identifies the prompt that the output belongs to. */
export interface Tongue {
  /** Asks for permission; absent where the protocol has no permission requests. */
  ask?(name: string, call: string): void
  begin(name: string, text: string): void
  openMessage(name: string): void
  piece(name: string, text: string): void
  /** A message that ended by itself; an interrupted one stays open. */
  closeMessage(name: string, text: string): void
  /** The tool that was asked for has run, or was refused. */
  tool(name: string, call: string, ran: boolean): void
  end(name: string, how: Ending): void
}

const PIECES = 12
const FAST_MS = 2
const SLOW_MS = 40
const LATE_MS = 500
const STRAY_MS = 30

/**
 * Plays the script that a prompt consists of. The first word names the prompt, the others are orders:
 * `say`, `ask`, `hang` (until interrupted), `leak` (print the secret), `spawn` (a program that outlives the agent),
 * `slow`, `die` and `freeze` (SIGKILL and SIGSTOP to itself), `double` and `stray` (a second result, at once or
 * late), and how it takes an interrupt: `late`, `twice` (confirms twice), `never` (works on).
 */
export class Actor {
  readonly #history: History
  readonly #tongue: Tongue
  #work: Promise<void> = Promise.resolve()
  #turn: Turn | undefined
  readonly #asking = new Map<string, (allowed: boolean) => void>()

  constructor(history: History, tongue: Tongue) {
    this.#history = history
    this.#tongue = tongue
  }

  /** Prompts are worked on one after another. */
  prompt(text: string): Promise<void> {
    const [name = '', ...orders] = text.trim().split(' ')
    this.#history.add({ type: 'prompt', name, text })
    this.#work = this.#work.then(() => this.#play(new Turn(name, text, orders)))
    return this.#work
  }

  interrupt(): void {
    const turn = this.#turn
    this.#history.add({ type: 'interrupted', name: turn?.name })
    if (!turn || turn.has('never')) return
    if (turn.has('late')) void sleep(LATE_MS).then(() => this.#stop(turn))
    else this.#stop(turn)
  }

  answer(call: string, decision: 'allow' | 'deny' | 'cancelled'): void {
    this.#history.add({ type: 'answered', call, decision })
    this.#asking.get(call)?.(decision === 'allow')
    this.#asking.delete(call)
  }

  #stop(turn: Turn): void {
    turn.stopped.resolve()
    turn.isStopped = true
  }

  async #play(turn: Turn): Promise<void> {
    this.#turn = turn
    this.#tongue.begin(turn.name, turn.text)
    for (const order of turn.orders) if (!turn.isStopped) await this.#act(turn, order)
    const how = turn.isStopped ? 'interrupted' : 'done'
    this.#end(turn, how)
    if (turn.has('double') || (turn.isStopped && turn.has('twice'))) this.#end(turn, how)
    this.#turn = undefined
    if (turn.has('stray')) void sleep(STRAY_MS).then(() => this.#end(turn, how))
  }

  #end({ name }: Turn, how: Ending): void {
    this.#history.add({ type: 'ended', name, how })
    this.#tongue.end(name, how)
  }

  async #act(turn: Turn, order: string): Promise<void> {
    switch (order) {
      case 'say':
        return this.#say(turn, (index) => `${turn.name}.${turn.said + index} `, PIECES)
      case 'leak':
        return this.#say(turn, () => `${process.env.FAKE_TOKEN ?? 'none'} `, 1)
      case 'ask':
        return this.#ask(turn)
      case 'hang':
        return hang(turn)
      case 'spawn':
        // In a new process session, so that only its environment shows which agent started it.
        spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }).unref()
        return
      case 'die':
        process.kill(process.pid, 'SIGKILL')
        return hang(turn)
      case 'freeze':
        process.kill(process.pid, 'SIGSTOP')
        return
      default:
    }
  }

  async #say(turn: Turn, pieceAt: (index: number) => string, count: number): Promise<void> {
    const { name } = turn
    this.#tongue.openMessage(name)
    let whole = ''
    for (let index = 0; index < count; index++) {
      const text = pieceAt(index)
      this.#history.add({ type: 'wrote', name, text })
      this.#tongue.piece(name, text)
      whole += text
      await sleep(turn.has('slow') ? SLOW_MS : FAST_MS)
      if (turn.isStopped) return
    }
    turn.said += count
    this.#tongue.closeMessage(name, whole)
  }

  async #ask(turn: Turn): Promise<void> {
    if (!this.#tongue.ask) return
    const { name } = turn
    const call = `${name}#${++turn.asked}`
    this.#history.add({ type: 'asked', name, call })
    const answered = new Promise<boolean>((resolve) => this.#asking.set(call, resolve))
    this.#tongue.ask(name, call)
    const allowed = await Promise.race([answered, turn.stopped.promise.then(() => false)])
    if (turn.isStopped) return
    if (allowed) this.#history.add({ type: 'ran', call })
    this.#tongue.tool(name, call, allowed)
  }
}

/** Waits for an interrupt. The timer keeps the process alive, which has nothing else to wait for. */
async function hang({ stopped }: Turn): Promise<void> {
  const timer = setInterval(() => undefined, 60_000)
  await stopped.promise
  clearInterval(timer)
}

class Turn {
  readonly name: string
  readonly text: string
  readonly orders: readonly string[]
  readonly stopped = Promise.withResolvers<void>()
  isStopped = false
  said = 0
  asked = 0

  constructor(name: string, text: string, orders: readonly string[]) {
    this.name = name
    this.text = text
    this.orders = orders
  }

  has(order: string): boolean {
    return this.orders.includes(order)
  }
}
