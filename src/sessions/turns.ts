import type { TurnCompleted } from '../model/events/turn.ts'
import type { Cause, Event, Image, MainstemError } from '../model/index.ts'
import type { SessionState } from '../stores/store.ts'
import type { AgentProcess } from './agent-process.ts'
import type { Changes } from './changes.ts'
import type { Claim } from './claim.ts'
import type { Conversation } from './conversation.ts'
import type { SessionDeps } from './deps.ts'
import { Interruption } from './interruption.ts'
import type { Log } from './log.ts'
import type { Mask } from './mask.ts'
import { agentSilent } from './notices.ts'
import { PromptQueue } from './prompt-queue.ts'
import { type Prompt, promptCommand, type SessionSetup } from './setup.ts'
import { isCounted } from './turn-limits.ts'
import { TurnWaiters } from './turn-waiters.ts'
import { Watchdog } from './watchdog.ts'

/** The parts of a session that its turns use. */
export interface TurnParts {
  conversation: Conversation
  agent: AgentProcess
  changes: Changes
  log: Log
  mask: Mask
  /** No turn is open and the queue is empty. */
  idle(): void
  /** The process has outdated settings and no turn is open: end it before the next turn. */
  endStaleProcess(): Promise<void>
  failed(thrown: unknown): void
}

/** Owns the open turn and the queue of a session: one turn at a time, each with one terminal event. */
export class Turns {
  readonly #setup: SessionSetup
  readonly #deps: SessionDeps
  readonly #parts: TurnParts
  readonly #conversation: Conversation
  readonly #agent: AgentProcess
  readonly #log: Log
  readonly #queue: PromptQueue
  readonly #waiters: TurnWaiters
  readonly #interruption: Interruption
  /** Idempotency keys to store when a turn ends. */
  readonly #claims = new Map<number, Claim[]>()
  #watchdog: Watchdog | undefined
  /** When the turn began, if its tools have to be ended with it. */
  #began: number | undefined
  /** The output that is being decoded has events. */
  #isActive = false

  constructor(setup: SessionSetup, deps: SessionDeps, state: SessionState, parts: TurnParts) {
    this.#setup = setup
    this.#deps = deps
    this.#parts = parts
    this.#conversation = parts.conversation
    this.#agent = parts.agent
    this.#log = parts.log
    this.#queue = new PromptQueue(deps.store, setup.id, state.queue)
    this.#waiters = new TurnWaiters(deps.store, state)
    this.#interruption = new Interruption(parts.conversation, parts.agent, deps.timers)
  }

  /** The number of the open turn. */
  get open(): number | undefined {
    return this.#conversation.turn
  }

  /** The number of queued prompts. */
  get waiting(): number {
    return this.#queue.length
  }

  get busy(): boolean {
    return this.waiting > 0 || this.#isOccupied
  }

  /** A turn is open, or the process of the last one must end or confirm an interrupt before the next begins. */
  get #isOccupied(): boolean {
    return this.open !== undefined || this.#agent.exiting || this.#interruption.unconfirmed
  }

  /** Begins a turn, or queues its prompt while another runs. Returns its number; durable with the next commit. */
  prompt(text: string, images: readonly Image[]): number {
    const turn = this.#conversation.accept()
    if (this.busy || this.#queue.isHeld) this.#enqueue({ turn, text, images })
    else this.#begin({ turn, text, images })
    return turn
  }

  /** Loads the first prompt of a queue that an earlier owner left, so that it can begin at once. */
  load(): Promise<void> {
    return this.#queue.load()
  }

  /** Starts the next queued prompt if nothing else is running. */
  startNext(): void {
    if (this.open === undefined && this.#interruption.unconfirmed) {
      this.#later(this.#interruption.confirmed().then((mayStart) => mayStart && this.startNext()))
    }
    if (this.#isOccupied) return
    const { changes, idle, endStaleProcess } = this.#parts
    if (changes.stale && this.#agent.running) this.#later(endStaleProcess())
    else if (!this.#queue.isReady) this.#later(this.#queue.load().then(() => this.startNext()))
    else {
      const next = this.#queue.shift()
      if (!next) {
        idle()
        return
      }
      this.#begin(next)
      this.#later(this.#log.commit())
    }
  }

  /** Resolves with the terminal event of a turn once it is committed. */
  settled(turn: number): Promise<TurnCompleted> {
    return this.#waiters.wait(turn)
  }

  /** Like `settled`, without reading the result. */
  ended(turn: number): Promise<void> {
    return this.#waiters.ended(turn)
  }

  /** Stops the open turn, if there is one. Settles when the terminal event is committed. */
  async interrupt(cause: Cause, claims: readonly Claim[] = [], why?: string): Promise<void> {
    const turn = this.open
    if (turn === undefined) return this.#log.commit(claims)
    if (claims.length > 0) this.#claims.set(turn, [...(this.#claims.get(turn) ?? []), ...claims])
    this.#conversation.setCause(cause, why)
    // Read now: the next turn may begin during the awaits below.
    const began = this.#began
    const settled = this.settled(turn)
    // It may reject before the await below; an unhandled rejection would end the program.
    settled.catch(() => undefined)
    const byProtocol = this.#setup.recipe.capabilities.interrupt === 'protocol'
    if (byProtocol) this.#agent.command({ type: 'interrupt' })
    await this.#log.commit()
    await this.#interruption.stop(turn, byProtocol ? settled : undefined)
    await settled
    if (byProtocol && began !== undefined) await this.#agent.endTools(began)
  }

  /** Ends a queued turn. Returns false if it is not queued. Durable with the next commit. */
  drop(turn: number): boolean {
    const isQueued = this.#queue.remove(turn)
    if (isQueued) this.#conversation.drop(turn)
    return isQueued
  }

  /** Ends the queued turns up to this one, all by default. Returns how many. Durable with the next commit. */
  dropAll(through?: number): number {
    const dropped = this.#queue.clear(through)
    for (const turn of dropped) this.#conversation.drop(turn)
    return dropped.length
  }

  /** Begins no further turn: another server is to run what waits. */
  holdQueue(): void {
    this.#queue.isHeld = true
  }

  /** Forgets the queue. The store keeps it for the next owner. */
  leaveQueue(): void {
    this.#queue.clear()
  }

  /** Call for every event that was added to the log, with the number of its frame. */
  observe(event: Event, native: number | undefined): void {
    if (native !== undefined) this.#isActive = true
    if (isCounted(event)) this.#log.after(() => this.#watchdog?.observe(event))
  }

  /** Call when the terminal event of a turn was added to the log. */
  completed(event: TurnCompleted): void {
    for (const claim of this.#claims.get(event.turn) ?? []) this.#log.use(claim)
    this.#claims.delete(event.turn)
    // A queued turn that was dropped had no watchdog.
    if (this.open === undefined) this.#watchdog?.end()
    this.#agent.turnEnded()
    const settled = this.#conversation.answered(event)
    this.#log.after(() => {
      this.#waiters.settle(this.#parts.mask.value(settled))
      this.#later(this.#agent.retire())
      this.startNext()
    })
  }

  /** Call after output was decoded. Frames without events, such as heartbeats, do not count as activity. */
  outputRead(): void {
    if (this.#isActive) this.#watchdog?.noteActivity()
    this.#isActive = false
    this.#interruption.outputRead()
  }

  /** Waiting for a person does not count as silence. */
  waitForPerson(waiting: boolean): void {
    this.#watchdog?.waitForPerson(waiting)
  }

  /** Rejects every caller that waits for a turn. */
  fail(error: MainstemError): void {
    this.#waiters.fail(error)
  }

  /** Stops the limits of the open turn, which can no longer be logged. */
  abandon(error: MainstemError): void {
    this.#watchdog?.end()
    this.fail(error)
  }

  #begin(prompt: Prompt): void {
    const { changes } = this.#parts
    changes.apply()
    const command = promptCommand(this.#setup, prompt, this.#deps.newId())
    changes.dropImages()
    this.#conversation.begin(prompt.turn, prompt.text, command.promptId)
    const { policy, recipe } = this.#setup
    if (recipe.leavesTools) this.#began = this.#agent.moment
    const owner = {
      stop: (cause: Cause, why?: string) => this.#later(this.interrupt(cause, undefined, why)),
      silent: (ms: number) => this.#reportSilence(ms),
    }
    this.#watchdog = new Watchdog(policy, this.#deps, owner, recipe.steps)
    this.#agent.prompt(command)
  }

  #enqueue({ turn, text, images }: Prompt): void {
    this.#queue.push({ turn, text, images })
    this.#conversation.queued(turn, text, this.#queue.length)
    this.#log.keepImages(turn, images)
    this.#log.after(() => this.#queue.stored(turn))
  }

  #reportSilence(ms: number): void {
    this.#conversation.notify(agentSilent(this.#setup.agent.id, ms, this.#deps.clock.now() - ms))
    this.#later(this.#log.commit())
  }

  #later(work: Promise<unknown>): void {
    work.catch((thrown) => this.#parts.failed(thrown))
  }
}
