/** Above this number of items a `Map` is faster than comparing. */
const FEW = 8

/** Open items by id, in the order in which they were opened. A few items are found by comparing ids, more by a `Map`. */
export class OpenItems<T> implements Iterable<[string, T]> {
  /** While there are few: the ids, and the item of each id at the same index. */
  #ids: string[] = []
  #items: T[] = []
  #many: Map<string, T> | undefined

  get isEmpty(): boolean {
    return (this.#many?.size ?? this.#items.length) === 0
  }

  get(id: string): T | undefined {
    return this.#many ? this.#many.get(id) : this.#items[this.#find(id)]
  }

  has(id: string): boolean {
    return this.#many ? this.#many.has(id) : this.#find(id) >= 0
  }

  set(id: string, item: T): void {
    if (this.#many) {
      this.#many.set(id, item)
      return
    }
    const index = this.#find(id)
    if (index >= 0) this.#items[index] = item
    else this.#begin(id, item)
  }

  delete(id: string): boolean {
    return this.take(id) !== undefined
  }

  /** Removes an item and returns it. */
  take(id: string): T | undefined {
    if (this.#many) {
      const item = this.#many.get(id)
      this.#many.delete(id)
      return item
    }
    const index = this.#find(id)
    if (index < 0) return undefined
    if (index === this.#ids.length - 1) {
      this.#ids.pop()
      return this.#items.pop()
    }
    this.#ids.splice(index, 1)
    return this.#items.splice(index, 1)[0]
  }

  keys(): string[] {
    return [...(this.#many?.keys() ?? this.#ids)]
  }

  values(): T[] {
    return [...(this.#many?.values() ?? this.#items)]
  }

  /** Iterates over a snapshot, so that items can be removed meanwhile. */
  [Symbol.iterator](): Iterator<[string, T]> {
    return this.#all.values()
  }

  get #all(): [string, T][] {
    return this.#many ? [...this.#many] : this.#items.map((item, index) => [this.#ids[index] ?? '', item])
  }

  #begin(id: string, item: T): void {
    this.#items.push(item)
    if (this.#ids.push(id) > FEW) this.#many = new Map(this.#all)
  }

  /** Searches the newest first, because agents mention it most. */
  #find(id: string): number {
    let index = this.#ids.length - 1
    while (index >= 0 && this.#ids[index] !== id) index--
    return index
  }
}
