/** A queue whose consumer reads batches. The producer limits its size. */
export class MessageQueue<Item> {
  #items: Item[] = []
  #end: { failure?: unknown } | undefined
  #wake: (() => void) | undefined

  get size(): number {
    return this.#items.length
  }

  push(item: Item): void {
    if (this.#end) return
    this.#items.push(item)
    this.#wake?.()
  }

  /** Ends the queue after the items in it. Only the first end or failure counts. */
  end(): void {
    this.#close({})
  }

  /** Fails after the items in the queue were read. */
  fail(failure: unknown): void {
    this.#close({ failure })
  }

  async *batches(): AsyncGenerator<readonly Item[], void, void> {
    for (;;) {
      const items = this.#items
      this.#items = []
      if (items.length > 0) yield items
      else if (!this.#end) await new Promise<void>((wake) => (this.#wake = wake))
      else if ('failure' in this.#end) throw this.#end.failure
      else return
    }
  }

  #close(end: { failure?: unknown }): void {
    this.#end ??= end
    this.#wake?.()
  }
}
