import type { LeftRun } from '../drivers/driver.ts'
import type { SessionHandedOver } from '../model/events/session.ts'
import type { TurnCompleted } from '../model/events/turn.ts'
import {
  type Applied,
  type BoundAnswer,
  type Coverage,
  type Image,
  MainstemError,
  type SessionRecord,
  toMainstemError,
} from '../model/index.ts'
import type { Receipt, SessionState } from '../stores/store.ts'
import type { CommandContext } from './command-context.ts'
import { parseChange, parseImages, parseName, parseNativeId, parsePrompt } from './commands.ts'
import type { SessionDeps } from './deps.ts'
import { handOver } from './hand-over/hand-over.ts'
import type { Log, LogPosition } from './log/log.ts'
import type { Conversation } from './machine/conversation.ts'
import type { Started } from './machine/sent.ts'
import type { AgentProcess } from './process/agent-process.ts'
import type { ProcessPlace } from './process/process-place.ts'
import {
  type Change,
  checkChange,
  checkedChange,
  checkPrompt,
  checkResume,
  requireCapability,
  type SessionSetup,
} from './process/setup.ts'
import { detach, suspend } from './recovery/leave.ts'
import { reattach } from './recovery/reattach.ts'
import { endedConflict, singleTask, suspended } from './refusals.ts'
import type { ConversationState, SessionHandle } from './session-handle.ts'
import { SessionParts } from './session-parts.ts'
import type { Asked } from './turns/answering.ts'
import type { TurnRead } from './turns/delivery.ts'
import type { Turns } from './turns/turns.ts'

/**
 * A durable conversation with one agent. Checks commands and gives each to the part that owns it: the agent process,
 * the turns and their queue, the requests, or the log with the record. Owns the lifetime of the session.
 */
export class Session implements SessionHandle {
  readonly id: string
  readonly principal: string
  readonly place: ProcessPlace
  /** It takes no second prompt, so a server that stops ends it instead of handing it over. */
  readonly endsWithTurn: boolean
  readonly #setup: SessionSetup
  readonly #deps: SessionDeps
  readonly #log: Log
  readonly #conversation: Conversation
  readonly #agent: AgentProcess
  readonly #turns: Turns
  readonly #parts: SessionParts
  #ended: Promise<void> | undefined
  /** `end` was called: the log may be deleted, so nothing may be written after its end. */
  #isEnding = false
  #failed = false

  /** `state` and `position` come from the store; the head of a new session is 0. */
  constructor(setup: SessionSetup, deps: SessionDeps, state: SessionState, position: LogPosition) {
    this.id = setup.id
    this.principal = state.principal
    this.endsWithTurn = state.single === true
    this.#setup = setup
    this.#deps = deps
    const parts = new SessionParts(this, setup, deps, state, position)
    this.#log = parts.log
    this.#conversation = parts.conversation
    this.#agent = parts.agent
    this.#turns = parts.turns
    this.place = parts.place
    this.#parts = parts
  }

  get coverage(): Coverage {
    return this.#conversation.coverage
  }

  /** The native id of the conversation, once it can be resumed. */
  get nativeSessionId(): string | undefined {
    return this.#conversation.nativeIds.proven
  }

  /** The record as the store has it; undefined before the first commit of this owner, and after a trim. */
  get record(): SessionRecord | undefined {
    return this.#log.stored
  }

  /** The store is about to evict entries of the log. */
  trimmed(): void {
    this.#log.trimmed()
  }

  /**
   * Creates the log, with its first turn and its idempotency key in the same commit. If the key exists already, creates
   * nothing and returns the existing receipt.
   */
  async open(prompt?: string, receipt?: Receipt, context: CommandContext = {}): Promise<Receipt | undefined> {
    const first = prompt === undefined ? undefined : parsePrompt(prompt)
    if (first !== undefined) await this.place.take()
    this.#parts.open(context)
    if (first !== undefined) this.#turns.prompt(first, [], context)
    const held = await this.#log.begin(receipt)
    if (held?.session !== receipt?.session) this.#deps.pool.leave(this.place)
    return held
  }

  /** Starts the queue that an earlier owner left. */
  async resume(): Promise<void> {
    if (this.#turns.waiting === 0 || this.#turns.open !== undefined || this.#ended) return
    if (this.#parts.continuations.isWaiting) return this.#parts.continuations.arm()
    // Before there is room: the next prompt must begin at once then.
    await this.#turns.load()
    await this.#deps.pool.admit(this.place)
    this.#turns.startNext()
    await this.#log.commit()
  }

  /** Continues the process that an earlier owner of this session left. */
  reattach(started: Started, left: LeftRun): Promise<void> {
    return reattach(this.#parts, started, left)
  }

  /** Returns the number of the turn once it is durable. The turn runs in the background. */
  async prompt(prompt: string, shown: readonly Image[] = [], context?: CommandContext): Promise<number> {
    const [text, images] = [parsePrompt(prompt), parseImages(shown)]
    checkPrompt(this.#setup, { text, images })
    if (this.endsWithTurn) throw singleTask(this.id)
    await this.#parts.changes.replaceKeys(context?.keys)
    await this.place.take()
    this.#checkOpen()
    this.#turns.checkQueue()
    // A person decides what happens next. Prompts that waited for the continuation run before this one.
    this.#parts.continuations.cancel()
    const turn = this.#turns.prompt(text, images, context)
    this.#log.after(() => this.#turns.startNext())
    await this.#log.commit(context?.claims, turn)
    return turn
  }

  settled(turn: number): Promise<TurnCompleted> {
    return this.#turns.settled(turn)
  }

  ended(turn: number): Promise<void> {
    return this.#turns.ended(turn)
  }

  /** Adds a prompt to the open turn. */
  async steer(prompt: string, context?: CommandContext): Promise<void> {
    const text = parsePrompt(prompt)
    requireCapability(this.#setup, 'steer')
    this.#turns.steer(text, context)
    await this.#log.commit(context?.claims)
  }

  /**
   * Changes the model, the policy or the mode. Starts no process: without one, the change applies to the next prompt.
   * Refused, and nothing changes, if the agent could not be started with the new settings.
   */
  async change(change: Change, context?: CommandContext): Promise<Applied> {
    const command = parseChange(change)
    checkChange(this.#setup, command)
    await this.place.closing
    this.#checkOpen()
    const changes = this.#parts.changes
    const applied = changes.change(checkedChange(this.#setup, changes.settings, command), context?.actor)
    await this.#log.commit(context?.claims, applied)
    if (changes.stale && this.place.idle) await this.place.closeIdle()
    return applied
  }

  /** Gives the session a name, also during a turn; `null` removes it. */
  async rename(given: string | null, context?: CommandContext): Promise<void> {
    const name = parseName(given)
    this.#checkOpen()
    this.#conversation.notify({ type: 'session.updated', name })
    this.#parts.note('session.renamed', context?.actor, name === null ? {} : { name })
    await this.#log.commit(context?.claims)
  }

  /** Commits the decision, then writes it to the agent. The first decision wins; `conflict` if the request has changed. */
  answer(answer: BoundAnswer, context?: CommandContext): Promise<void> {
    return this.#parts.answering.answer(answer, context)
  }

  /** Denies a request because the callback that decides it failed, or returned an answer that is not valid. */
  decline(asked: Asked, reason: string): Promise<void> {
    return this.#parts.answering.decline(asked, reason)
  }

  /** Stops the open turn, or the turn with this number; between turns, cancels the continuation that waits. */
  interrupt(turn?: number, context?: CommandContext): Promise<void> {
    return this.#parts.interrupts.cancel(turn, context)
  }

  /** Stops the open turn and drops the queue, up to a turn. Returns true if this call ended a turn. */
  interruptAll(context?: CommandContext, through?: number): Promise<boolean> {
    return this.#parts.interrupts.cancelAll(through, context)
  }

  /**
   * Switches to another native conversation from the next prompt on. Refused if the agent cannot resume, and while a turn
   * runs.
   */
  async adopt(id: string, context?: CommandContext): Promise<void> {
    const nativeSessionId = parseNativeId(id)
    checkResume(this.#setup, nativeSessionId)
    this.#checkOpen()
    this.#checkIdle()
    // A running process still has the old conversation.
    await this.place.closeIdle()
    this.#checkIdle()
    this.#conversation.adopt(nativeSessionId)
    this.#parts.note('session.resumed', context?.actor, { native: nativeSessionId })
    await this.#log.commit()
  }

  /** Ends the process and logs that another agent continues; the session is then restored with that agent. */
  handOver(event: () => Promise<SessionHandedOver>, context?: CommandContext): Promise<void> {
    return handOver(this.#parts, event, context)
  }

  /** Records what a client has read, so that it is not delivered again. */
  async delivered(reads: readonly TurnRead[]): Promise<void> {
    if (this.#isEnding) return
    this.#log.delivered(reads)
    await this.#log.commit()
  }

  /** Stores the idempotency key of a command without effect. */
  async remember({ claims }: CommandContext): Promise<void> {
    await this.#log.commit(claims)
  }

  async describe(): Promise<ConversationState> {
    return { idle: this.place.idle, nativeSessionId: this.nativeSessionId }
  }

  /** Stops the agent and ends the log. */
  end(context: CommandContext = {}): Promise<void> {
    this.#isEnding = true
    this.#ended ??= this.#end(context)
    return this.#ended
  }

  /** Begins no further turn, because another server is to continue. Settles when the open turn has ended. */
  async leave(): Promise<void> {
    this.#turns.holdQueue()
    const { turn } = this.#conversation
    if (turn !== undefined) await this.ended(turn)
  }

  /** Stops the agent and keeps the session open: the stored queue is resumed by the next owner. */
  suspend(): Promise<void> {
    this.#ended ??= suspend(this.#parts)
    return this.#ended
  }

  /** Leaves the agent to the next process of this server; stops one that would end with this process. */
  detach(): Promise<void> {
    if (this.#ended || !this.#agent.canDetach) return this.suspend()
    // What fails from now on must not end the agent.
    this.#failed = true
    this.#ended = detach(this.#parts)
    return this.#ended
  }

  /** No further turn may begin here. */
  get isOver(): boolean {
    return this.#ended !== undefined || this.#failed
  }

  /** Has a continuation that an earlier owner left run at its time. */
  continueLater(): void {
    this.#parts.continuations.arm()
  }

  async #end({ claims, actor }: CommandContext): Promise<void> {
    this.#parts.alarms.disarm('idle', 'continuation')
    this.#turns.dropAll()
    await this.#parts.interrupts.interrupt('interrupt')
    await this.place.close()
    this.#conversation.notify({ type: 'session.ended', reason: 'completed' })
    this.#parts.note('session.ended', actor)
    await this.#log.commit(claims)
  }

  #checkOpen(): void {
    if (this.#ended) throw this.#isEnding ? endedConflict() : suspended(this.#deps.node)
  }

  #checkIdle(): void {
    if (this.#turns.busy) throw new MainstemError('conflict', 'a turn is running; interrupt it first')
  }

  /**
   * Stops the agent and all writes: its output can no longer be logged, because storage failed, another server may
   * acquire this session soon, or we have a bug.
   */
  lose(thrown: unknown): void {
    if (this.#failed) return
    this.#failed = true
    const error = toMainstemError(thrown)
    this.#turns.abandon(error)
    const stopping = [this.#log.abandon(error), this.#agent.stop(), this.#parts.answering.stop()]
    const left = Promise.allSettled(stopping).then(() => this.#deps.pool.leave(this.place))
    this.#deps.failed?.(this.id, error, left)
  }
}
