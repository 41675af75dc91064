import type { TurnCompleted } from '../../model/events/turn.ts'
import { type Continuation, toMainstemError } from '../../model/index.ts'
import { recapForLost } from '../hand-over/hand-over.ts'
import { notContinued } from '../machine/notices.ts'
import type { SessionParts } from '../session-parts.ts'
import { planContinuation } from './plan.ts'

/** The clock is compared this often, because it may be set, and a machine that sleeps stops timers. */
const LOOK_MS = 60_000
/** The pause before another attempt if the session cannot start its turn now. */
const RETRY_MS = 1_000

/** A prompt in the queue that Mainstem wrote, to run later. */
export interface QueuedContinuation {
  turn: number
  continuation: Continuation
}

/**
 * Continues work that was cut off: queues a prompt with a time, and starts it then. At most one waits in a session, before
 * all other prompts of its queue.
 */
export class Continuations {
  readonly #parts: SessionParts
  /** The continuation that may start. */
  #due: number | undefined
  /** Another agent is taking the session over. Its process ends meanwhile, which would ring again. */
  #isHandingOver = false

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  /** The queue waits for a continuation that may not start yet. */
  get isWaiting(): boolean {
    const { next } = this
    return next !== undefined && next.turn !== this.#due
  }

  /** The continuation in the queue, if there is one. */
  get next(): QueuedContinuation | undefined {
    return this.#parts.turns.continuation
  }

  /** Call before the end of a turn is logged, so that readers of the end know that more follows. */
  plan(completed: TurnCompleted): void {
    const { state, deps, turns, conversation } = this.#parts
    const plan = planContinuation(state, completed, deps.clock.now(), turns.isLeft)
    if (!plan) return
    if ('refused' in plan) conversation.notify(notContinued(completed.turn, plan.refused), completed.turn)
    else turns.continueLater(plan.prompt, plan.continuation, plan.author)
  }

  /** Arms the timer of the continuation in the queue. */
  arm(): void {
    const { next } = this
    if (next) this.#armIn(Math.max(0, next.continuation.at - this.#parts.deps.clock.now()))
  }

  /** Drops the continuation that waits: a person decides what happens next. Durable with the next commit. */
  cancel(): void {
    const { next } = this
    if (next) this.#parts.turns.drop(next.turn)
  }

  #armIn(ms: number): void {
    const { alarms, session } = this.#parts
    if (session.isOver) return
    alarms.arm('continuation', Math.min(ms, LOOK_MS), () => this.#parts.run(this.#ring()))
  }

  async #ring(): Promise<void> {
    const { next } = this
    const { deps, setup, turns, session, log } = this.#parts
    if (!next || session.isOver || this.#isHandingOver) return
    const now = deps.clock.now()
    if (now < next.continuation.at) return this.arm()
    if (now > next.continuation.until) {
      turns.expire(next)
      return log.commit()
    }
    // The agent may have started a turn itself.
    if (turns.open !== undefined || turns.isHeld || !(await this.#hasRoom())) return this.#armIn(RETRY_MS)
    if (session.isOver || this.next?.turn !== next.turn) return
    const { agent } = next.continuation
    if (agent !== undefined && agent !== setup.agent.id) return this.#continueWith(agent, next)
    if (next.continuation.reason === 'lost') {
      // The agent may not know its conversation any more, which only its next process can tell.
      setup.recap = await recapForLost(deps.store, session.id)
      if (session.isOver || turns.open !== undefined || this.next?.turn !== next.turn) return this.arm()
    }
    this.#due = next.turn
    turns.startNext()
    await log.commit()
  }

  /** The session is restored with the other agent, which then starts the turn. */
  async #continueWith(agent: string, next: QueuedContinuation): Promise<void> {
    const { deps, turns, session, log, conversation } = this.#parts
    this.#isHandingOver = true
    try {
      await deps.continueWith?.(session.id, { type: 'hand_over', agent })
    } catch (thrown) {
      if (session.isOver) return
      const { code, message } = toMainstemError(thrown)
      if (code === 'storage_failed') throw thrown
      conversation.notify(notContinued(next.turn, `${agent} cannot continue: ${message}`))
      turns.drop(next.turn)
      await log.commit()
    } finally {
      this.#isHandingOver = false
    }
  }

  async #hasRoom(): Promise<boolean> {
    try {
      await this.#parts.place.take()
      return true
    } catch (thrown) {
      if (toMainstemError(thrown).code === 'overloaded') return false
      throw thrown
    }
  }
}
