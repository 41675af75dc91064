import { MainstemError } from '../../model/index.ts'
import { OWNER } from '../../model/owner.ts'
import { isFairShare } from '../../reading/byte-budget.ts'

/** A session whose process is kept warm. */
export interface WarmSession {
  /** Who the session belongs to. */
  readonly principal: string
  /** No turn is running, so the process may be closed. */
  readonly idle: boolean
  /** Closes the process; the next turn starts a new one. */
  closeIdle(): Promise<void>
}

/** After how many seconds a refused prompt is worth another try. */
const RETRY_AFTER_S = 5

/**
 * Limits the number of processes, and the share of each principal. Closes the process that has been idle longest to
 * admit a new one.
 */
export class WarmPool {
  readonly #limit: number
  /** In order of last use. */
  readonly #running = new Set<WarmSession>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** The number of processes. */
  get size(): number {
    return this.#running.size
  }

  /** Reserves a place, and evicts an idle process if necessary. A session that has a place keeps it if it is fair. */
  async admit(session: WarmSession): Promise<void> {
    this.#checkShare(session)
    const inside = this.#running.delete(session)
    while (!inside && this.#running.size >= this.#limit) {
      const idle = [...this.#running].find((running) => running.idle)
      if (!idle) throw full(`all ${this.#limit} agent processes are busy`)
      this.#running.delete(idle)
      await idle.closeIdle()
    }
    this.enter(session)
  }

  /** Adds a session without a check, for a process that replaces one that just exited. */
  enter(session: WarmSession): void {
    this.#running.add(session)
  }

  leave(session: WarmSession): void {
    this.#running.delete(session)
  }

  /**
   * Idle processes make room for others, so only busy ones count. The person who runs the server can use all of them, and
   * every principal one.
   */
  #checkShare(session: WarmSession): void {
    const { principal } = session
    if (principal === OWNER) return
    const busy = [...this.#running].filter((running) => running !== session && !running.idle)
    const own = busy.filter((running) => running.principal === principal).length
    if (own === 0 || isFairShare(own + 1, this.#limit - busy.length - 1)) return
    throw full(`${own} agent processes are busy for you, and the rest is kept for others`)
  }
}

function full(message: string): MainstemError {
  return new MainstemError('overloaded', message, { retryAfter: RETRY_AFTER_S })
}
