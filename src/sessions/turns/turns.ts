import type { Write } from '../../agents/agent.ts'
import type { TurnCompleted } from '../../model/events/turn.ts'
import { type Continuation, type Event, type Image, MainstemError } from '../../model/index.ts'
import type { Author } from '../../model/request/request.ts'
import { authorOf, type CommandContext } from '../command-context.ts'
import type { QueuedContinuation } from '../continuations/continuations.ts'
import type { SessionDeps } from '../deps.ts'
import type { Log } from '../log/log.ts'
import type { Conversation } from '../machine/conversation.ts'
import { agentSilent } from '../machine/notices.ts'
import type { TurnStart } from '../machine/sent.ts'
import type { AgentProcess } from '../process/agent-process.ts'
import { type Prompt, promptCommand, type SessionSetup } from '../process/setup.ts'
import { Watchdog } from '../process/watchdog.ts'
import type { SessionParts } from '../session-parts.ts'
import { PendingDoubt } from './doubt.ts'
import { PromptQueue } from './prompt-queue.ts'
import { isCounted } from './turn-limits.ts'
import { TurnWaiters } from './turn-waiters.ts'

/** Owns the open turn and the queue of a session: one turn at a time, each with one terminal event. */
export class Turns {
  readonly #setup: SessionSetup
  readonly #deps: SessionDeps
  readonly #parts: SessionParts
  readonly #conversation: Conversation
  readonly #agent: AgentProcess
  readonly #log: Log
  readonly #queue: PromptQueue
  readonly #waiters: TurnWaiters
  #watchdog: Watchdog | undefined
  #doubt: PendingDoubt | undefined
  /** The queue is left to another owner, because this one stops. */
  isLeft = false

  constructor(parts: SessionParts) {
    const { setup, deps, state, conversation, agent, log } = parts
    this.#setup = setup
    this.#deps = deps
    this.#parts = parts
    this.#conversation = conversation
    this.#agent = agent
    this.#log = log
    this.#queue = new PromptQueue(deps.store, setup.id, state.queue)
    this.#waiters = new TurnWaiters(deps.store, state)
  }

  /** The number of the open turn. */
  get open(): number | undefined {
    return this.#conversation.turn
  }

  /** The number of queued prompts. */
  get waiting(): number {
    return this.#queue.length
  }

  /** Refuses another prompt if the queue is full. */
  checkQueue(): void {
    const { waiting } = this
    if (waiting < (this.#deps.maxQueue ?? Number.POSITIVE_INFINITY)) return
    throw new MainstemError('overloaded', `${waiting} prompts are queued already`, { retryAfter: 30 })
  }

  get busy(): boolean {
    return (this.waiting > 0 && !this.#parts.continuations.isWaiting) || this.#isOccupied
  }

  /** The continuation in the queue. */
  get continuation(): QueuedContinuation | undefined {
    return this.#queue.continuation
  }

  /** A turn is open, or the process of the last one must end or confirm an interrupt before the next begins. */
  get #isOccupied(): boolean {
    return this.open !== undefined || this.#agent.exiting || this.#parts.interrupts.isUnconfirmed
  }

  /** Begins a turn, or queues its prompt while another runs. Returns its number; durable with the next commit. */
  prompt(text: string, images: readonly Image[], { actor }: CommandContext = {}): number {
    const turn = this.#conversation.accept()
    const prompt = { turn, text, images, author: authorOf(actor) }
    if (this.busy || this.#queue.isHeld) this.#enqueue(prompt)
    else this.#begin(prompt)
    this.#parts.note('prompt.sent', actor, { turn })
    return turn
  }

  /** Sends a prompt into the open turn. Durable with the next commit. */
  steer(text: string, { actor }: CommandContext = {}): void {
    const turn = this.open
    if (turn === undefined) throw new MainstemError('conflict', 'there is no open turn to steer')
    this.#agent.command({ type: 'steer', text, promptId: this.#deps.newId(), ...authorOf(actor) })
    this.#parts.note('turn.steered', actor, { turn })
  }

  /** Loads the first prompt of a queue that an earlier owner left, so that it can begin at once. */
  load(): Promise<void> {
    return this.#queue.load()
  }

  /** Starts the next queued prompt if nothing else is running. */
  startNext(): void {
    const { changes, continuations, interrupts, place } = this.#parts
    if (this.open === undefined && interrupts.isUnconfirmed) this.#parts.run(interrupts.awaitConfirmation())
    if (this.#isOccupied) return
    if (continuations.isWaiting) {
      continuations.arm()
      place.keep()
      return
    }
    if (changes.stale && this.#agent.running) this.#parts.run(place.closeIdle())
    else if (!this.#queue.isReady) this.#parts.run(this.#queue.load().then(() => this.startNext()))
    else {
      const next = this.#queue.shift()
      if (!next) {
        place.keep()
        return
      }
      this.#begin(next)
      this.#parts.run(this.#log.commit())
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

  /** No further turn begins here. */
  get isHeld(): boolean {
    return this.#queue.isHeld
  }

  /** Begins no further turn: another server, or another agent, is to run what waits. */
  holdQueue(): void {
    this.#queue.isHeld = true
  }

  /** Begins turns again. */
  releaseQueue(): void {
    this.#queue.isHeld = false
    this.startNext()
  }

  /** Forgets the queue, and begins no further turn. The store keeps the queue for the next owner. */
  leaveQueue(): void {
    this.isLeft = true
    this.holdQueue()
    this.#queue.clear()
  }

  /** Limits nothing and begins no further turn. The open one goes on. */
  detach(): void {
    this.#watchdog?.end()
    this.leaveQueue()
  }

  /** Queues a prompt that continues the open turn later. Durable with the end of that turn. */
  continueLater(text: string, continuation: Continuation, author: Partial<Author>): void {
    this.#enqueue({ turn: this.#conversation.accept(), text, images: [], author }, continuation)
  }

  /** Ends a continuation whose latest time has passed. Durable with the next commit. */
  expire({ turn }: QueuedContinuation): void {
    this.#queue.remove(turn)
    this.#conversation.drop(turn, { code: 'timeout', message: 'the latest time to continue has passed' })
  }

  /** Call for every event that was added to the log, with the number of its frame. */
  observe(event: Event, native: number | undefined): void {
    // Frames without events, such as heartbeats, do not count as activity; nor does waiting for a person as silence.
    if (native !== undefined || event.type.startsWith('request.')) this.#watchdog?.noteActivity()
    if (isCounted(event)) this.#log.after(() => this.#watchdog?.observe(event))
  }

  /** Call when the terminal event of a turn was added to the log. */
  completed(event: TurnCompleted): void {
    // A queued turn that was dropped had no watchdog.
    if (this.open === undefined) this.#watchdog?.end()
    this.#agent.turnEnded()
    const settled = this.#conversation.answered(event)
    this.#log.after(() => {
      this.#waiters.settle(this.#parts.mask.value(settled))
      this.#parts.run(this.#agent.retire())
      this.startNext()
    })
  }

  /** The agent may have this write of the open turn. */
  watchDoubt(write: Write): void {
    this.#doubt = new PendingDoubt(this.#parts, write)
    this.#parts.run(this.#doubt.settle())
  }

  /** Call after output was decoded. */
  outputRead(): void {
    this.#doubt?.outputRead()
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
    const command = promptCommand(this.#setup, prompt, () => this.#deps.newHash())
    changes.dropImages()
    this.#conversation.begin(prompt.turn, prompt.text, command.promptId, prompt.author)
    const moment = this.#setup.recipe.leavesTools ? this.#agent.moment : undefined
    this.#parts.interrupts.began(moment)
    this.#watchdog = new Watchdog(this.#parts)
    const begins = { turn: prompt.turn, at: this.#deps.clock.now() }
    this.#agent.prompt(command, { ...begins, ...(moment !== undefined && { moment }) })
  }

  /**
   * Continues the open turn of an earlier owner, with the events that its limits count. `outputAt` is when its agent
   * wrote last.
   */
  attach({ at, moment }: TurnStart, counted: readonly Event[], outputAt: number): void {
    if (this.open === undefined) return
    this.#parts.interrupts.began(moment)
    const now = this.#deps.clock.now()
    const silentMs = Math.max(0, now - Math.max(at, outputAt))
    this.#watchdog = new Watchdog(this.#parts, { turnMs: Math.max(0, now - at), silentMs })
    for (const event of counted) this.#watchdog.observe(event)
    if (this.#conversation.cause !== 'exit') this.#parts.run(this.#parts.interrupts.interruptAgain(this.open))
  }

  #enqueue(prompt: Prompt, continuation?: Continuation): void {
    const { turn, text, images, author } = prompt
    this.#queue.push(prompt, continuation)
    const position = continuation ? 1 : this.#queue.length
    const more = { ...(continuation && { continuation }), ...author }
    this.#conversation.notify({ type: 'turn.queued', turn, prompt: text, position, ...more }, turn)
    this.#log.keepImages(turn, images)
    this.#log.after(() => this.#queue.stored(turn))
  }

  /** The agent wrote nothing for so long. */
  reportSilence(ms: number): void {
    this.#conversation.notify(agentSilent(this.#setup.agent.id, ms, this.#deps.clock.now() - ms))
    this.#parts.run(this.#log.commit())
  }
}
