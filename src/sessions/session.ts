import type { Write } from '../agents/agent.ts'
import type { RunExit } from '../drivers/driver.ts'
import type { Frame } from '../framing/frame.ts'
import type { RequestOpened } from '../model/events/request.ts'
import type { TurnCompleted } from '../model/events/turn.ts'
import {
  type AnswerCommand,
  type Cause,
  type Command,
  type Event,
  type Image,
  MainstemError,
  toMainstemError,
} from '../model/index.ts'
import { AgentProcess } from './agent-process.ts'
import { answerFor } from './approval.ts'
import { Conversation, type Coverage } from './conversation.ts'
import { Log } from './log.ts'
import { Outbox } from './outbox.ts'
import type { SessionParts } from './parts.ts'
import { Rest } from './rest.ts'
import { Settlements } from './settlements.ts'
import { circumstances, need, type Prompt, replaceProgram, type SessionSetup } from './setup.ts'
import type { Warm } from './warm-pool.ts'
import { Watchdog } from './watchdog.ts'

/** How long an agent may take to stop by its own protocol before its process is ended. */
const PROTOCOL_GRACE_MS = 2_000

/**
 * A durable conversation with one agent. State changes happen at once and in memory; what they cause outside
 * (a process, a line to the agent, a promise kept) waits in the outbox until the entries are committed.
 */
export class Session implements Warm {
  readonly id: string
  readonly #setup: SessionSetup
  readonly #parts: SessionParts
  readonly #log: Log
  readonly #outbox: Outbox
  readonly #conversation: Conversation
  readonly #requests = new Map<string, RequestOpened>()
  readonly #settlements = new Settlements()
  readonly #queue: Prompt[] = []
  readonly #process: AgentProcess
  readonly #rest: Rest
  #watchdog: Watchdog | undefined
  #ended: Promise<void> | undefined

  constructor(setup: SessionSetup, parts: SessionParts) {
    this.id = setup.id
    this.#setup = setup
    this.#parts = parts
    this.#log = new Log(setup.id, parts.store, () => parts.clock.now())
    this.#outbox = new Outbox(this.#log)
    this.#process = new AgentProcess({
      frames: (batch) => this.#hear(batch),
      exited: (exit) => this.#exited(exit),
      failed: (thrown) => this.#fail(thrown),
    })
    this.#rest = new Rest(parts.timers, parts.restAfterMs, () => this.#closeProcess())
    const { agent, recipe, launch, cwd, policy, options, resume } = setup
    this.#conversation = new Conversation({
      agent: agent.id,
      recipe,
      start: { launch, cwd, policy, options, ...(resume !== undefined && { resume }) },
      digest: parts.digest,
      answersItself: (request) => answerFor(request, circumstances(setup, parts)) !== undefined,
      now: () => parts.clock.monotonic(),
      emit: (event, turn, native) => this.#emit(event, turn, native),
    })
  }

  get coverage(): Coverage {
    return this.#conversation.coverage
  }

  async open(): Promise<void> {
    this.#conversation.open()
    await this.#outbox.flush()
  }

  /** The turn's number, once it is durable; the turn goes on in the background. */
  async prompt(text: string, images: readonly Image[] = []): Promise<number> {
    if (images.length > 0) need(this.#setup, 'images')
    await this.#makeRoom()
    this.#checkOpen()
    const turn = this.#conversation.accept()
    const prompt: Prompt = { turn, text, images }
    if (this.#busy) {
      this.#queue.push(prompt)
      this.#conversation.queued(turn, text, this.#queue.length)
    } else {
      this.#begin(prompt)
    }
    await this.#outbox.flush()
    return turn
  }

  /** Starts the agent's process before there is a prompt for it. */
  async warm(): Promise<void> {
    if (this.#setup.launch === 'oneshot') return
    await this.#makeRoom()
    if (this.#process.running || this.#busy || this.#ended) return
    this.#start()
    this.#restLater()
    await this.#outbox.flush()
  }

  get idle(): boolean {
    return this.#process.running && !this.#busy && !this.#ended
  }

  /** Ends an idle process; the conversation goes on in another one with the next prompt. */
  rest(): Promise<void> {
    return this.#rest.now()
  }

  /** The terminal event of a turn, once it is committed. */
  settled(turn: number): Promise<TurnCompleted> {
    return this.#settlements.wait(turn)
  }

  /** A prompt that joins the open turn. */
  async steer(text: string): Promise<void> {
    need(this.#setup, 'steer')
    if (this.#conversation.turn === undefined)
      throw new MainstemError('conflict', 'there is no open turn to steer')
    this.#command({ type: 'steer', text, promptId: this.#parts.newId() })
    await this.#outbox.flush()
  }

  /** Changes what the agent works with from now on. */
  async change(command: Extract<Command, { type: 'set_model' | 'set_policy' }>): Promise<void> {
    need(this.#setup, command.type === 'set_model' ? 'setModel' : 'setMode')
    this.#checkOpen()
    if (!this.#process.running) await this.warm()
    this.#command(command)
    await this.#outbox.flush()
  }

  /** The agent's own id of the conversation, once there is something to go on with. */
  get nativeSessionId(): string | undefined {
    return this.#conversation.nativeSessionId
  }

  /** Stops the open turn; without one it does nothing. Settles when the turn has its terminal event. */
  async interrupt(cause: Cause = 'interrupt'): Promise<void> {
    const turn = this.#conversation.turn
    if (turn === undefined) return
    this.#conversation.blame(cause)
    const settled = this.settled(turn)
    if (this.#setup.recipe.capabilities.interrupt === 'protocol') {
      this.#command({ type: 'interrupt' })
      await this.#outbox.flush()
      await this.#within(PROTOCOL_GRACE_MS, settled)
    } else {
      await this.#outbox.flush()
    }
    if (this.#conversation.turn === turn) await this.#process.stop()
    await settled
  }

  /** Commits the decision, then tells the agent. The first decision wins. */
  async answer(answer: AnswerCommand): Promise<void> {
    if (!this.#requests.has(answer.requestId)) {
      throw new MainstemError('request_not_found', `there is no open request ${answer.requestId}`)
    }
    const { writes, refused } = this.#conversation.answer(answer)
    if (refused) throw new MainstemError(refused.code, refused.message)
    this.#requests.delete(answer.requestId)
    this.#watchdog?.waitForPerson(this.#requests.size > 0)
    this.#write(writes)
    await this.#outbox.flush()
    if (answer.interrupt) await this.interrupt()
  }

  /** Stops what is running and ends the log. */
  end(cause: Cause = 'interrupt'): Promise<void> {
    this.#ended ??= this.#end(cause)
    return this.#ended
  }

  async #end(cause: Cause): Promise<void> {
    for (const { turn } of this.#queue.splice(0)) this.#conversation.drop(turn)
    await this.interrupt(cause)
    await this.#closeProcess()
    this.#conversation.ended({ type: 'session.ended', reason: cause === 'drain' ? 'cancelled' : 'completed' })
    await this.#outbox.flush()
  }

  #checkOpen(): void {
    if (this.#ended) throw new MainstemError('conflict', 'the session has ended')
  }

  async #closeProcess(): Promise<void> {
    this.#rest.cancel()
    if (this.#process.running) {
      this.#command({ type: 'close' })
      await this.#outbox.flush()
      await this.#within(PROTOCOL_GRACE_MS, this.#process.gone)
      await this.#process.stop()
    }
    await this.#process.gone
  }

  /** A new process needs room among the others; the one we have needs none. */
  async #makeRoom(): Promise<void> {
    await this.#rest.over()
    if (!this.#busy) await this.#parts.pool.admit(this)
  }

  /** A process that nobody talks to goes after a while, if the conversation can be resumed without it. */
  #restLater(): void {
    if (this.#setup.launch === 'oneshot' || !this.#setup.recipe.capabilities.resume) return
    this.#rest.later().catch((thrown) => this.#fail(thrown))
  }

  get #busy(): boolean {
    const exiting = this.#process.running && this.#setup.launch === 'oneshot'
    return this.#conversation.turn !== undefined || this.#queue.length > 0 || exiting
  }

  #begin({ turn, text, images }: Prompt): void {
    this.#rest.cancel()
    this.#conversation.begin(turn, text)
    const { policy } = this.#setup
    const { clock, timers } = this.#parts
    this.#watchdog = new Watchdog(policy, clock, timers, (cause) => this.#stopTurn(cause))
    if (!this.#process.running) this.#start()
    this.#command({ type: 'prompt', text, ...(images.length > 0 && { images: [...images] }) })
  }

  /** A prompt that waited has its turn when nothing else is running. */
  #next(): void {
    if (this.#conversation.turn !== undefined || (this.#process.running && this.#setup.launch === 'oneshot'))
      return
    const next = this.#queue.shift()
    if (!next) {
      if (this.#process.running) this.#restLater()
      return
    }
    this.#begin(next)
    this.#outbox.flush().catch((thrown) => this.#fail(thrown))
  }

  /** Starts a native process, as soon as the turn is committed that needs it. */
  #start(): void {
    this.#parts.pool.enter(this)
    const start = this.#conversation.launch()
    const settings = this.#parts.agentSettings?.(this.#setup.agent.id) ?? {}
    const launch = replaceProgram(this.#setup.recipe.launch(start), settings)
    this.#outbox.push(() => {
      const run = this.#parts.driver.start(launch, {
        runId: `${this.id}.${start.epoch}`,
        cwd: this.#setup.cwd,
        env: { ...settings.env, ...this.#setup.options.env },
        blobs: this.#parts.store.blobs,
      })
      this.#process.adopt(run)
    })
    this.#command({ type: 'open', ...(start.resume !== undefined && { resume: start.resume }) })
  }

  async #hear(batch: readonly Frame[]): Promise<void> {
    this.#watchdog?.heard()
    for (const frame of batch) {
      this.#write(this.#conversation.frame(frame))
      if (this.#parts.journal && !frame.blob) {
        this.#log.keepFrame(this.coverage.frames, frame.stream, frame.text)
      }
    }
    await this.#outbox.flush()
  }

  async #exited({ survivors, ...exit }: RunExit): Promise<void> {
    this.#parts.pool.leave(this)
    if (survivors) this.#conversation.survived(survivors)
    this.#conversation.exit(exit)
    this.#outbox.push(() => this.#next())
    await this.#outbox.flush()
  }

  /** A command the agent cannot take ends its turn: nothing else would. */
  #command(command: Command): void {
    const { writes, refused } = this.#conversation.command(command)
    if (!refused) this.#write(writes)
    else if (command.type === 'prompt') this.#conversation.refuse(refused)
    else throw new MainstemError(refused.code, refused.message)
  }

  #write(writes: readonly Write[]): void {
    if (writes.length === 0) return
    this.#outbox.push(() => this.#process.write(writes))
  }

  #emit(event: Event, turn: number | undefined, native: number | undefined): void {
    this.#log.add(event, turn, native)
    switch (event.type) {
      case 'request.opened':
        this.#ask(event)
        break
      case 'request.withdrawn':
        this.#requests.delete(event.requestId)
        this.#watchdog?.waitForPerson(this.#requests.size > 0)
        break
      case 'usage.reported':
        this.#outbox.push(() => this.#watchdog?.see(event))
        break
      case 'turn.completed':
        if (event.turn === turn) this.#watchdog?.end()
        this.#outbox.push(() => {
          this.#settlements.settle(event)
          this.#next()
        })
    }
  }

  #stopTurn(cause: Cause): void {
    this.interrupt(cause).catch((thrown) => this.#fail(thrown))
  }

  #ask(request: RequestOpened): void {
    this.#requests.set(request.requestId, request)
    this.#watchdog?.waitForPerson(true)
    const answer = answerFor(request, circumstances(this.#setup, this.#parts))
    if (!answer) return
    this.#outbox.push(() => {
      if (!this.#requests.has(request.requestId)) return
      // An answer that the agent does not offer is none; the request stays for a person.
      this.answer(answer).catch((thrown) => {
        if (toMainstemError(thrown).code === 'storage_failed') this.#fail(thrown)
      })
    })
  }

  async #within(ms: number, awaited: Promise<unknown>): Promise<void> {
    const over = new AbortController()
    await Promise.race([awaited, this.#parts.timers.sleep(ms, over.signal)])
    over.abort()
  }

  /** Storage is gone, or we have a bug: nothing more can be promised, so the process must not go on unseen. */
  #fail(thrown: unknown): void {
    const error = toMainstemError(thrown)
    this.#watchdog?.end()
    this.#settlements.fail(error)
    void this.#process.stop()
  }
}
