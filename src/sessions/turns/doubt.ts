import type { Write } from '../../agents/agent.ts'
import type { SessionParts } from '../session-parts.ts'
import { withTimeout } from '../with-timeout.ts'

/** How long an agent may take to show that it has a prompt, before its turn is lost. */
export const DOUBT_MS = 30_000

/** Why a turn is lost whose agent may not have what was written to it. */
export const IN_DOUBT =
  'the server ended while it wrote to the agent, and nobody knows whether the agent has received it; nothing was sent again'

/** A write that the agent may have, and that must not be repeated: what it reports next tells. */
export class PendingDoubt {
  readonly #parts: SessionParts
  readonly #write: Write
  readonly #known = Promise.withResolvers<void>()

  constructor(parts: SessionParts, write: Write) {
    this.#parts = parts
    this.#write = write
  }

  /** Call after output was decoded. */
  outputRead(): void {
    if (this.#isKnown) this.#known.resolve()
  }

  /** Ends the turn as lost if the agent does not show in time that it has the write. */
  async settle(): Promise<void> {
    const { conversation, deps, log, agent } = this.#parts
    const { turn } = conversation
    await withTimeout(deps.timers, DOUBT_MS, this.#known.promise)
    if (this.#isKnown || conversation.turn !== turn) return
    conversation.setCause('lost', IN_DOUBT)
    agent.stopping({ cause: conversation.cause, why: IN_DOUBT })
    await log.commit()
    await agent.stop()
  }

  get #isKnown(): boolean {
    const { conversation } = this.#parts
    return conversation.turn === undefined || conversation.doubtful(this.#write) !== 'watch'
  }
}
