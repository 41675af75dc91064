import { MainstemError } from '../../model/index.ts'

/** A session whose process is kept warm. */
export interface WarmSession {
  /** No turn is running, so the process may be closed. */
  readonly idle: boolean
  /** Closes the process; the next turn starts a new one. */
  closeIdle(): Promise<void>
}

/** Limits the number of processes. Closes the process that has been idle longest to admit a new one. */
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

  /** Reserves a place, and evicts an idle process if necessary. A session that has a place keeps it. */
  async admit(session: WarmSession): Promise<void> {
    const inside = this.#running.delete(session)
    while (!inside && this.#running.size >= this.#limit) {
      const idle = [...this.#running].find((running) => running.idle)
      if (!idle) {
        throw new MainstemError('overloaded', `all ${this.#limit} agent processes are busy`, {
          retryAfter: 5,
        })
      }
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
}
