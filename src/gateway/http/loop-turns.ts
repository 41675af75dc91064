/**
 * Divides the turns of the event loop: in each one, every principal starts at most one piece of work. Many requests of
 * one principal then delay a request of another one by one piece of work, and not by all of them.
 */
export class LoopTurns {
  readonly #taken = new Set<string>()
  /** In the order in which they came. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #isScheduled = false

  /** The pieces of work of all principals that wait. */
  get waiting(): number {
    let waiting = 0
    for (const { length } of this.#waiting.values()) waiting += length
    return waiting
  }

  /** Settles when the next piece of work of this principal may start: at once, unless one has started in this turn. */
  async take(principal: string): Promise<void> {
    this.#schedule()
    if (!this.#taken.has(principal)) {
      this.#taken.add(principal)
      return
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    const queue = this.#waiting.get(principal)
    if (queue) queue.push(resolve)
    else this.#waiting.set(principal, [resolve])
    await promise
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#next())
  }

  #next(): void {
    this.#isScheduled = false
    this.#taken.clear()
    for (const [principal, queue] of this.#waiting) {
      this.#taken.add(principal)
      queue.shift()?.()
      if (queue.length === 0) this.#waiting.delete(principal)
    }
    if (this.#taken.size > 0) this.#schedule()
  }
}
