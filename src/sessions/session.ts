import type { TurnCompleted } from '../model/events/turn.ts'
import { type Applied, type BoundAnswer, type Coverage, type Image, MainstemError } from '../model/index.ts'
import type { Receipt, SessionState } from '../stores/store.ts'
import type { Claim } from './claim.ts'
import type { TurnRead } from './delivery.ts'
import type { SessionDeps } from './deps.ts'
import { endedConflict } from './ended-conflict.ts'
import { Engine, type EngineOwner } from './engine.ts'
import { IdleTimer } from './idle-timer.ts'
import type { LogPlace } from './log.ts'
import {
  type Change,
  checkChange,
  checkImages,
  need,
  nextStart,
  type Prompt,
  type SessionSetup,
  startOf,
} from './setup.ts'
import { withTimeout } from './with-timeout.ts'

/** Longer than every grace and signal of an ordered stop takes. An agent that outlives it must not stop the server. */
const SUSPEND_MS = 30_000

/** A durable conversation with one agent: what may be asked of it. */
export class Session implements EngineOwner {
  readonly id: string
  readonly #setup: SessionSetup
  readonly #deps: SessionDeps
  readonly #engine: Engine
  readonly #rest: IdleTimer
  #ended: Promise<void> | undefined
  /** The turn that was stopped last, with all that waited behind it. */
  #stopped: number | undefined
  /** Its log may be removed from now on, so nothing must be written behind its end. */
  #over = false

  /** `state` and `place` are what the store has of it; a new session has a head of 0. */
  constructor(setup: SessionSetup, deps: SessionDeps, state: SessionState, place: LogPlace) {
    this.id = setup.id
    this.#setup = setup
    this.#deps = deps
    this.#engine = new Engine(setup, deps, state, place, this)
    // From the beginning, so that whoever comes first finds what waits: to end it, to drop it, to stand behind it.
    for (const { turn, prompt, images = [] } of state.queue) {
      this.#engine.queue.push({ turn, text: prompt, images })
    }
    this.#rest = new IdleTimer(deps.timers, deps.restAfterMs, () => this.#engine.closeProcess())
  }

  get coverage(): Coverage {
    return this.#engine.conversation.coverage
  }

  /** The agent's own id of the conversation, once there is something to go on with. */
  get nativeSessionId(): string | undefined {
    return this.#engine.conversation.nativeIds.proven
  }

  /**
   * Begins the log, with its first turn and its idempotency key in the same commit. Where somebody else holds the
   * key this session never was, and their receipt is the answer.
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

  /** Goes on with what waited when its owner went away. */
  async resume(): Promise<void> {
    const { queue, conversation, outbox } = this.#engine
    if (queue.length === 0 || conversation.turn !== undefined || this.#ended) return
    await this.#deps.pool.admit(this)
    this.#engine.next()
    await outbox.flush()
  }

  /** The turn's number, once it is durable; the turn goes on in the background. */
  async prompt(text: string, images: readonly Image[] = [], claim?: Claim): Promise<number> {
    if (images.length > 0) checkImages(this.#setup, { text, images })
    await this.#makeRoom()
    this.#checkOpen()
    this.#checkQueue()
    const turn = this.#engine.conversation.accept()
    const prompt: Prompt = { turn, text, images }
    if (this.#engine.busy) {
      this.#engine.wait(prompt)
    } else {
      this.#rest.cancel()
      this.#engine.begin(prompt)
    }
    await this.#engine.flush(claim)
    return turn
  }

  /** The terminal event of a turn, once it is committed. */
  settled(turn: number): Promise<TurnCompleted> {
    return this.#engine.turnWaiters.wait(turn)
  }

  /** Settles when the turn has ended, without its result. */
  ended(turn: number): Promise<void> {
    return this.#engine.turnWaiters.ended(turn)
  }

  /** A prompt that joins the open turn. */
  async steer(text: string, claim?: Claim): Promise<void> {
    need(this.#setup, 'steer')
    if (this.#engine.conversation.turn === undefined) {
      throw new MainstemError('conflict', 'there is no open turn to steer')
    }
    this.#engine.command({ type: 'steer', text, promptId: this.#deps.newId() })
    await this.#engine.flush(claim)
  }

  /**
   * Changes the model, the policy or the mode. Starts no process: without one the change waits for the next prompt.
   * Refused, with the old settings in place, where the agent could not be started with it.
   */
  async change(command: Change, claim?: (applied: Applied) => Claim | undefined): Promise<Applied> {
    if (command.type === 'set_model') need(this.#setup, 'setModel')
    else if (command.mode !== undefined) need(this.#setup, 'setMode')
    await this.#rest.over()
    this.#checkOpen()
    checkChange(this.#setup, command)
    const { changes } = this.#engine
    const applied = changes.change(nextStart(this.#setup, changes.settings, command))
    await this.#engine.flush(claim?.(applied))
    if (changes.stale && this.idle) await this.rest()
    return applied
  }

  endStale(): void {
    this.rest().catch((thrown) => this.#engine.fail(thrown))
  }

  /** Commits the decision, then writes it to the agent. The first decision wins; `conflict` when the agent asks something else by now. */
  answer(answer: BoundAnswer, claim?: Claim): Promise<void> {
    return this.#engine.answering.answer(answer, claim)
  }

  /**
   * Stops the open turn, or the one of that number, which may still wait. Settles when it has its terminal event;
   * without anything to stop it does nothing.
   */
  async interrupt(turn = this.#engine.conversation.turn, claim?: Claim): Promise<void> {
    const { conversation, queue } = this.#engine
    if (turn === conversation.turn) return this.#engine.interrupt('interrupt', claim)
    const waiting = queue.findIndex((prompt) => prompt.turn === turn)
    if (waiting < 0 || turn === undefined) return
    queue.splice(waiting, 1)
    conversation.drop(turn)
    await this.#engine.flush(claim)
  }

  /**
   * Stops the open turn and drops all that waits; true when that ended any of them. Each has its terminal event then.
   * Of several who stop a turn at once, the first has done it.
   */
  async interruptAll(): Promise<boolean> {
    const { conversation, queue, outbox } = this.#engine
    const dropped = queue.splice(0)
    for (const { turn } of dropped) conversation.drop(turn)
    const { turn } = conversation
    const isFirst = turn !== this.#stopped
    this.#stopped = turn
    await (turn === undefined ? outbox.flush() : this.#engine.interrupt('interrupt'))
    // A turn may have come to its own end before it could be stopped.
    const stopped = turn !== undefined && isFirst && (await this.settled(turn)).outcome === 'interrupted'
    return stopped || dropped.length > 0
  }

  /**
   * Goes on with another conversation of the agent's own from the next prompt on. Refused where the agent cannot
   * resume one, and while it works.
   */
  async adopt(nativeSessionId: string): Promise<void> {
    const { agent, launch, recipe } = this.#setup
    if (!recipe.capabilities.resume) {
      throw new MainstemError('unsupported_option', `resume is not supported by a ${launch} ${agent.id}`)
    }
    recipe.launch({ ...startOf({ ...this.#setup, mode: undefined, resume: nativeSessionId }), epoch: 1 })
    this.#checkOpen()
    this.#checkIdle()
    // A process that runs is in its old conversation.
    await this.rest()
    this.#checkIdle()
    await this.#engine.adopt(nativeSessionId)
  }

  /** Records what a client has read, so that it is not delivered again. */
  async delivered(reads: readonly TurnRead[]): Promise<void> {
    if (!this.#over) await this.#engine.delivered(reads)
  }

  /** Uses up a key for a command that found nothing to do. */
  async remember(claim: Claim): Promise<void> {
    await this.#engine.flush(claim)
  }

  /** Another server may acquire this session soon: stops the agent and writes nothing more. */
  lose(error: MainstemError): void {
    this.#engine.fail(error)
  }

  /** Starts the agent's process before there is a prompt for it. */
  async warm(): Promise<void> {
    if (this.#setup.launch === 'oneshot') return
    await this.#makeRoom()
    if (this.#engine.process.running || this.#engine.busy || this.#ended) return
    this.#engine.start()
    this.atRest()
    await this.#engine.outbox.flush()
  }

  get idle(): boolean {
    return this.#engine.process.running && !this.#engine.busy && !this.#ended
  }

  /** Ends an idle process; the conversation goes on in another one with the next prompt. */
  rest(): Promise<void> {
    return this.#rest.now()
  }

  /** A process that nobody talks to goes after a while, if the conversation can be resumed without it. */
  atRest(): void {
    const { launch, recipe } = this.#setup
    if (launch === 'oneshot' || !recipe.capabilities.resume || this.#ended) return
    this.#rest.later().catch((thrown) => this.#engine.fail(thrown))
  }

  /** Stops what is running and ends the log. */
  end(claim?: Claim): Promise<void> {
    this.#over = true
    this.#ended ??= this.#end(claim)
    return this.#ended
  }

  /** Stops what is running and leaves the rest for another day: what waits in the queue still waits then. */
  suspend(): Promise<void> {
    this.#ended ??= this.#suspend()
    return this.#ended
  }

  async #end(claim?: Claim): Promise<void> {
    const { conversation, queue } = this.#engine
    this.#rest.cancel()
    for (const { turn } of queue.splice(0)) conversation.drop(turn)
    await this.#engine.interrupt('interrupt')
    await this.#engine.closeProcess()
    conversation.ended({ type: 'session.ended', reason: 'completed' })
    await this.#engine.flush(claim)
  }

  async #suspend(): Promise<void> {
    this.#rest.cancel()
    this.#engine.queue.length = 0
    const stopped = this.#engine.interrupt('drain').then(() => this.#engine.closeProcess())
    try {
      await withTimeout(this.#deps.timers, SUSPEND_MS, stopped)
    } finally {
      // A server that stops waits for every turn, also for those that only wait in the queue.
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

  /** A new process needs room among the others; the one we have needs none. */
  async #makeRoom(): Promise<void> {
    await this.#rest.over()
    if (!this.#engine.busy) await this.#deps.pool.admit(this)
  }
}
