import { MainstemError } from '../model/index.ts'

/** A session whose process is kept warm. */
export interface Warm {
  /** Nothing is running in it, so its process may go. */
  readonly idle: boolean
  /** Ends the process; the next turn starts another one. */
  rest(): Promise<void>
}

/** How many processes there may be at once. The one that has been idle longest makes room for a new one. */
export class WarmPool {
  readonly #limit: number
  /** In order of last use. */
  readonly #running = new Set<Warm>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Makes room for one more, before anything is promised; one that is in already is only used again. */
  async admit(session: Warm): Promise<void> {
    const inside = this.#running.delete(session)
    while (!inside && this.#running.size >= this.#limit) {
      const idle = [...this.#running].find((running) => running.idle)
      if (!idle) {
        throw new MainstemError('overloaded', `all ${this.#limit} agent processes are busy`, {
          retryAfter: 5,
        })
      }
      this.#running.delete(idle)
      await idle.rest()
    }
    this.enter(session)
  }

  /** A process that takes the place of one that just went needs no room made. */
  enter(session: Warm): void {
    this.#running.add(session)
  }

  leave(session: Warm): void {
    this.#running.delete(session)
  }
}
