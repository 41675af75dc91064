import { MainstemError } from '../../model/index.ts'

const RETRY_AFTER_S = 1

/**
 * Runs expensive work of each principal one after the other, so that many requests of one delay the next request of
 * another by one piece of work at most.
 */
export class OneAtATime {
  readonly #maxWaiting: number
  readonly #last = new Map<string, { count: number; settled: Promise<unknown> }>()

  /** Beyond `maxWaiting` waiting pieces of work, a principal is refused. */
  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting
  }

  /** Runs the work after the earlier work of this principal. Throws `overloaded` if too much of it waits. */
  async run<T>(principal: string, work: () => Promise<T>): Promise<T> {
    const queue = this.#last.get(principal) ?? { count: 0, settled: Promise.resolve() }
    if (queue.count > this.#maxWaiting)
      throw new MainstemError('overloaded', `${queue.count} searches of this token are already running`, {
        retryAfter: RETRY_AFTER_S,
      })
    queue.count++
    this.#last.set(principal, queue)
    const result = queue.settled.then(work)
    queue.settled = Promise.allSettled([result])
    try {
      return await result
    } finally {
      if (--queue.count === 0) this.#last.delete(principal)
    }
  }
}
