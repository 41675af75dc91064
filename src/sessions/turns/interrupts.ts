import type { TurnCompleted } from '../../model/events/turn.ts'
import type { Cause } from '../../model/index.ts'
import type { Claim } from '../claim.ts'
import type { CommandContext } from '../command-context.ts'
import { interruptUnconfirmed } from '../machine/notices.ts'
import { PROTOCOL_GRACE_MS } from '../process/agent-process.ts'
import type { SessionParts } from '../session-parts.ts'
import { withTimeout } from '../with-timeout.ts'

/** Ends turns before the agent does: by its protocol, and by the end of its process if that takes too long. */
export class Interrupts {
  readonly #parts: SessionParts
  /** Idempotency keys to store when a turn ends. */
  readonly #claims = new Map<number, Claim[]>()
  /** When the open turn began, if its tools have to be ended with it. */
  #began: number | undefined
  /** The turn that `cancelAll` stopped last. */
  #stopped: number | undefined
  /** The queue waits until the agent confirms an interrupt. */
  #confirmation: PromiseWithResolvers<void> | undefined

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  /**
   * The running process has not confirmed an interrupt, which could still stop the next turn; or output that it cut could
   * still arrive.
   */
  get isUnconfirmed(): boolean {
    return this.#parts.agent.running && this.#parts.conversation.unconfirmed
  }

  /** Call when a turn begins: `moment` if its tools have to be ended with it. */
  began(moment: number | undefined): void {
    this.#began = moment
  }

  /** Stops the open turn, if there is one. Settles when the terminal event is committed. */
  async interrupt(cause: Cause, { claims = [], actor }: CommandContext = {}, why?: string): Promise<void> {
    const { agent, conversation, log, turns } = this.#parts
    const { turn } = conversation
    if (turn === undefined) return log.commit(claims)
    this.#parts.note('turn.interrupted', actor, { turn })
    if (claims.length > 0) this.#claims.set(turn, [...(this.#claims.get(turn) ?? []), ...claims])
    conversation.setCause(cause, why)
    agent.stopping({ cause, ...(why !== undefined && { why }) })
    const settled = turns.settled(turn)
    // It may reject before it is awaited; an unhandled rejection would end the program.
    settled.catch(() => undefined)
    const end = this.#endOf(turn, settled)
    if (this.#isByProtocol) agent.command({ type: 'interrupt' })
    await log.commit()
    await end(this.#isByProtocol ? PROTOCOL_GRACE_MS : 0)
  }

  /** An earlier owner was ending the open turn. */
  async interruptAgain(turn: number): Promise<void> {
    await this.#endOf(turn, this.#parts.turns.ended(turn))(PROTOCOL_GRACE_MS)
  }

  /** Ends the process of a turn that does not settle in time, and then what its tools started. */
  #endOf(turn: number, settled: Promise<unknown>): (graceMs: number) => Promise<void> {
    const { agent, conversation, deps } = this.#parts
    // Read now: the next turn may begin during the awaits below.
    const began = this.#began
    return async (graceMs) => {
      if (graceMs > 0) await withTimeout(deps.timers, graceMs, settled)
      if (conversation.turn === turn) await agent.stop()
      await settled
      if (this.#isByProtocol && began !== undefined) await agent.endTools(began)
    }
  }

  /**
   * Stops the open turn, or the turn with this number, which may be queued. Between turns, drops the continuation that
   * waits. Settles when the turn has its terminal event. Does nothing if there is nothing to stop.
   */
  async cancel(asked?: number, context: CommandContext = {}): Promise<void> {
    const { log, turns } = this.#parts
    const turn = asked ?? turns.open ?? turns.continuation?.turn
    if (turn === turns.open) return this.interrupt('interrupt', context)
    if (turn === undefined || !turns.drop(turn)) return
    this.#parts.note('turn.interrupted', context.actor, { turn })
    log.after(() => turns.startNext())
    await log.commit(context.claims)
  }

  /**
   * Stops the open turn and drops the queue. Returns true if this call ended a turn; each has its terminal event then.
   * Of concurrent calls, only the first returns true for the open turn. Turns after `through` are not affected.
   */
  async cancelAll(through = Number.POSITIVE_INFINITY, { actor }: CommandContext = {}): Promise<boolean> {
    const { log, turns } = this.#parts
    const dropped = turns.dropAll(through)
    if (dropped > 0) this.#parts.note('turn.interrupted', actor, { queued: dropped })
    const { open = 0 } = turns
    const turn = open > 0 && open <= through ? open : undefined
    const isFirst = turn !== this.#stopped
    this.#stopped = turn
    await (turn === undefined ? log.commit() : this.interrupt('interrupt', { actor }))
    // The turn may have ended by itself before the interrupt.
    const stopped = turn !== undefined && isFirst && (await turns.settled(turn)).outcome === 'interrupted'
    return stopped || dropped > 0
  }

  /** Call when the terminal event of a turn was added to the log. */
  completed({ turn }: TurnCompleted): void {
    for (const claim of this.#claims.get(turn) ?? []) this.#parts.log.use(claim)
    this.#claims.delete(turn)
  }

  /** Call after output was decoded: it may contain the confirmation. */
  outputRead(): void {
    if (this.#confirmation && !this.isUnconfirmed) this.#confirmation.resolve()
  }

  /** Starts the queue after the confirmation. Ends the process without it; its exit starts the queue then. */
  async awaitConfirmation(): Promise<void> {
    if (this.#confirmation) return
    const { agent, conversation, deps, turns } = this.#parts
    this.#confirmation = Promise.withResolvers()
    await withTimeout(deps.timers, PROTOCOL_GRACE_MS, this.#confirmation.promise)
    this.#confirmation = undefined
    if (!this.isUnconfirmed) {
      turns.startNext()
      return
    }
    conversation.notify(interruptUnconfirmed(PROTOCOL_GRACE_MS))
    await agent.stop()
  }

  get #isByProtocol(): boolean {
    return this.#parts.setup.recipe.capabilities.interrupt === 'protocol'
  }
}
