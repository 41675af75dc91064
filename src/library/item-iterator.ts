/**
 * Iterates over the items of a stream of batches, in order, also when several are requested at once. Each item is a
 * copy, so a consumer that edits it changes neither the log nor what other consumers receive. An item of the current
 * batch costs one promise; an async generator would cost several turns of the microtask queue.
 */
export class ItemIterator<T extends object> implements AsyncIterableIterator<T, void> {
  readonly #batches: AsyncGenerator<readonly T[], void>
  readonly #copy: (item: T) => T
  #batch: readonly T[] = []
  #at = 0
  /** Calls that wait for a batch. Later calls queue behind them, to keep the order. */
  #waiting = 0
  #last: Promise<unknown> = Promise.resolve()

  constructor(batches: AsyncGenerator<readonly T[], void>, copy: (item: T) => T) {
    this.#batches = batches
    this.#copy = copy
  }

  next(): Promise<IteratorResult<T, void>> {
    const value = this.#waiting === 0 ? this.#batch[this.#at] : undefined
    if (value !== undefined) {
      this.#at++
      return Promise.resolve({ done: false, value: this.#copy(value) })
    }
    this.#waiting++
    const taken = this.#last.then(() => this.#take())
    const served = () => {
      this.#waiting--
    }
    this.#last = taken.then(served, served)
    return taken
  }

  async return(): Promise<IteratorResult<T, void>> {
    this.#batch = []
    await this.#batches.return()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async #take(): Promise<IteratorResult<T, void>> {
    for (;;) {
      const value = this.#batch[this.#at]
      if (value !== undefined) {
        this.#at++
        return { done: false, value: this.#copy(value) }
      }
      const next = await this.#batches.next()
      if (next.done) return next
      this.#batch = next.value
      this.#at = 0
    }
  }
}
