import type { TurnCompleted } from '../model/events/turn.ts'
import { type Applied, type BoundAnswer, type Coverage, type Image, MainstemError } from '../model/index.ts'
import type { Receipt, SessionState } from '../stores/store.ts'
import type { Claim } from './claim.ts'
import type { TurnRead } from './delivery.ts'
import type { SessionDeps } from './deps.ts'
import { endedConflict } from './ended-conflict.ts'
import { Engine } from './engine.ts'
import type { EngineOwner } from './engine-owner.ts'
import { IdleTimer } from './idle-timer.ts'
import type { LogPosition } from './log.ts'
import type { ConversationState, SessionHandle } from './session-handle.ts'
import {
  type Change,
  checkChange,
  checkedChange,
  checkImages,
  type Prompt,
  requireCapability,
  type SessionSetup,
  startOf,
} from './setup.ts'
import { withTimeout } from './with-timeout.ts'

/** Longer than all steps of an orderly stop. An agent that survives it must not block the shutdown. */
const SUSPEND_MS = 30_000

/** The commands of a session: a durable conversation with one agent. */
export class Session implements EngineOwner, SessionHandle {
  readonly id: string
  readonly #setup: SessionSetup
  readonly #deps: SessionDeps
  readonly #engine: Engine
  readonly #idleTimer: IdleTimer
  #ended: Promise<void> | undefined
  /** The turn that `interruptAll` stopped last. */
  #stopped: number | undefined
  /** `end` was called: the log may be deleted, so nothing may be written after its end. */
  #isEnding = false

  /** `state` and `position` come from the store; the head of a new session is 0. */
  constructor(setup: SessionSetup, deps: SessionDeps, state: SessionState, position: LogPosition) {
    this.id = setup.id
    this.#setup = setup
    this.#deps = deps
    this.#engine = new Engine(setup, deps, state, position, this)
    this.#idleTimer = new IdleTimer(deps.timers, deps.idleProcessMs, () => this.#engine.closeProcess())
  }

  get coverage(): Coverage {
    return this.#engine.conversation.coverage
  }

  /** The native id of the conversation, once it can be resumed. */
  get nativeSessionId(): string | undefined {
    return this.#engine.conversation.nativeIds.proven
  }

  /**
   * Creates the log, with its first turn and its idempotency key in the same commit. If the key exists already, creates
   * nothing and returns the existing receipt.
   */
  async open(prompt?: string, receipt?: Receipt): Promise<Receipt | undefined> {
    const { conversation, outbox } = this.#engine
    if (prompt !== undefined) await this.#makeRoom()
    conversation.open()
    if (prompt !== undefined) this.#engine.begin({ turn: conversation.accept(), text: prompt, images: [] })
    const held = await outbox.begin(receipt)
    if (held?.session !== receipt?.session) this.#deps.pool.leave(this)
    return held
  }

  /** Starts the queue that an earlier owner left. */
  async resume(): Promise<void> {
    const { queue, conversation, outbox } = this.#engine
    if (queue.length === 0 || conversation.turn !== undefined || this.#ended) return
    // Before there is room: the next prompt must begin at once then.
    await queue.load()
    await this.#deps.pool.admit(this)
    this.#engine.startNext()
    await outbox.flush()
  }

  /** Returns the number of the turn once it is durable. The turn runs in the background. */
  async prompt(text: string, images: readonly Image[] = [], claims?: readonly Claim[]): Promise<number> {
    if (images.length > 0) checkImages(this.#setup, { text, images })
    await this.#makeRoom()
    this.#checkOpen()
    this.#checkQueue()
    const turn = this.#engine.conversation.accept()
    const prompt: Prompt = { turn, text, images }
    if (this.#engine.busy) {
      this.#engine.enqueue(prompt)
    } else {
      this.#idleTimer.cancel()
      this.#engine.begin(prompt)
    }
    await this.#engine.flush(claims, turn)
    return turn
  }

  /** Resolves with the terminal event of a turn once it is committed. */
  settled(turn: number): Promise<TurnCompleted> {
    return this.#engine.turnWaiters.wait(turn)
  }

  /** Like `settled`, without reading the result. */
  ended(turn: number): Promise<void> {
    return this.#engine.turnWaiters.ended(turn)
  }

  /** Adds a prompt to the open turn. */
  async steer(text: string, claims?: readonly Claim[]): Promise<void> {
    requireCapability(this.#setup, 'steer')
    if (this.#engine.conversation.turn === undefined) {
      throw new MainstemError('conflict', 'there is no open turn to steer')
    }
    this.#engine.command({ type: 'steer', text, promptId: this.#deps.newId() })
    await this.#engine.flush(claims)
  }

  /**
   * Changes the model, the policy or the mode. Starts no process: without one, the change applies to the next prompt.
   * Refused, and nothing changes, if the agent could not be started with the new settings.
   */
  async change(command: Change, claims?: readonly Claim[]): Promise<Applied> {
    if (command.type === 'set_model') requireCapability(this.#setup, 'setModel')
    else if (command.mode !== undefined) requireCapability(this.#setup, 'setMode')
    await this.#idleTimer.closed()
    this.#checkOpen()
    checkChange(this.#setup, command)
    const { changes } = this.#engine
    const applied = changes.change(checkedChange(this.#setup, changes.settings, command))
    await this.#engine.flush(claims, applied)
    if (changes.stale && this.idle) await this.closeIdle()
    return applied
  }

  endStaleProcess(): void {
    this.closeIdle().catch((thrown) => this.#engine.fail(thrown))
  }

  /** Commits the decision, then writes it to the agent. The first decision wins; `conflict` if the request has changed. */
  answer(answer: BoundAnswer, claims?: readonly Claim[]): Promise<void> {
    return this.#engine.answering.answer(answer, claims)
  }

  /**
   * Stops the open turn, or the turn with this number, which may be queued. Settles when it has its terminal event.
   * Does nothing if there is nothing to stop.
   */
  async interrupt(turn = this.#engine.conversation.turn, claims?: readonly Claim[]): Promise<void> {
    const { conversation, queue } = this.#engine
    if (turn === conversation.turn) return this.#engine.interrupt('interrupt', claims)
    if (turn === undefined || !queue.remove(turn)) return
    conversation.drop(turn)
    await this.#engine.flush(claims)
  }

  /**
   * Stops the open turn and drops the queue. Returns true if this call ended a turn; each has its terminal event then.
   * Of concurrent calls, only the first returns true for the open turn. Turns after `through` are not affected.
   */
  async interruptAll(through = Number.POSITIVE_INFINITY): Promise<boolean> {
    const { conversation, queue, outbox } = this.#engine
    const dropped = queue.clear(through)
    for (const turn of dropped) conversation.drop(turn)
    const turn = (conversation.turn ?? 0) <= through ? conversation.turn : undefined
    const isFirst = turn !== this.#stopped
    this.#stopped = turn
    await (turn === undefined ? outbox.flush() : this.#engine.interrupt('interrupt'))
    // The turn may have ended by itself before the interrupt.
    const stopped = turn !== undefined && isFirst && (await this.settled(turn)).outcome === 'interrupted'
    return stopped || dropped.length > 0
  }

  /**
   * Switches to another native conversation from the next prompt on. Refused if the agent cannot resume, and while a turn
   * runs.
   */
  async adopt(nativeSessionId: string): Promise<void> {
    const { agent, launch, recipe } = this.#setup
    if (!recipe.capabilities.resume) {
      throw new MainstemError('unsupported_option', `resume is not supported by a ${launch} ${agent.id}`)
    }
    recipe.launch({ ...startOf({ ...this.#setup, mode: undefined, resume: nativeSessionId }), epoch: 1 })
    this.#checkOpen()
    this.#checkIdle()
    // A running process still has the old conversation.
    await this.closeIdle()
    this.#checkIdle()
    await this.#engine.adopt(nativeSessionId)
  }

  /** Records what a client has read, so that it is not delivered again. */
  async delivered(reads: readonly TurnRead[]): Promise<void> {
    if (!this.#isEnding) await this.#engine.delivered(reads)
  }

  /** Stores the idempotency key of a command without effect. */
  async remember(claims: readonly Claim[]): Promise<void> {
    await this.#engine.flush(claims)
  }

  /** Another server may acquire this session soon: stops the agent and all writes. */
  lose(error: MainstemError): void {
    this.#engine.fail(error)
  }

  async describe(): Promise<ConversationState> {
    const { nativeSessionId, idle } = this
    return { idle, ...(nativeSessionId !== undefined && { nativeSessionId }) }
  }

  /** Starts the agent process before the first prompt. */
  async warm(): Promise<void> {
    if (this.#setup.launch === 'oneshot') return
    await this.#makeRoom()
    if (this.#engine.process.running || this.#engine.busy || this.#ended) return
    this.#engine.start()
    this.becameIdle()
    await this.#engine.outbox.flush()
  }

  get idle(): boolean {
    return this.#engine.process.running && !this.#engine.busy && !this.#ended
  }

  /** Closes an idle process. The next prompt starts a new one, which resumes the conversation. */
  closeIdle(): Promise<void> {
    return this.#idleTimer.closeNow()
  }

  /** Starts the idle timer, if the conversation can be resumed by a new process. */
  becameIdle(): void {
    const { launch, recipe } = this.#setup
    if (launch === 'oneshot' || !recipe.capabilities.resume || this.#ended) return
    this.#idleTimer.restart().catch((thrown) => this.#engine.fail(thrown))
  }

  /** Stops the agent and ends the log. */
  end(claims?: readonly Claim[]): Promise<void> {
    this.#isEnding = true
    this.#ended ??= this.#end(claims)
    return this.#ended
  }

  /** Stops the agent and keeps the session open: the stored queue is resumed by the next owner. */
  suspend(): Promise<void> {
    this.#ended ??= this.#suspend()
    return this.#ended
  }

  async #end(claims?: readonly Claim[]): Promise<void> {
    const { conversation, queue } = this.#engine
    this.#idleTimer.cancel()
    for (const turn of queue.clear()) conversation.drop(turn)
    await this.#engine.interrupt('interrupt')
    await this.#engine.closeProcess()
    conversation.ended({ type: 'session.ended', reason: 'completed' })
    await this.#engine.flush(claims)
  }

  async #suspend(): Promise<void> {
    this.#idleTimer.cancel()
    this.#engine.queue.clear()
    const stopped = this.#engine.interrupt('drain').then(() => this.#engine.closeProcess())
    try {
      await withTimeout(this.#deps.timers, SUSPEND_MS, stopped)
    } finally {
      // Callers that wait for queued turns would otherwise never settle.
      this.#engine.turnWaiters.fail(new MainstemError('draining', 'the server is stopping'))
    }
  }

  #checkOpen(): void {
    if (this.#ended) throw endedConflict()
  }

  #checkQueue(): void {
    const { length } = this.#engine.queue
    if (length < (this.#deps.maxQueue ?? Number.POSITIVE_INFINITY)) return
    throw new MainstemError('overloaded', `${length} prompts wait in this session already`, {
      retryAfter: 30,
    })
  }

  #checkIdle(): void {
    if (this.#engine.busy) throw new MainstemError('conflict', 'a turn is running; interrupt it first')
  }

  /** Reserves a place in the pool, unless this session has a process at work. */
  async #makeRoom(): Promise<void> {
    await this.#idleTimer.closed()
    if (!this.#engine.busy) await this.#deps.pool.admit(this)
  }
}
