/** More than these are looked up; fewer are compared with. */
const FEW = 8

/**
 * What is open under an id, in the order in which it began. A handful at most times, and then found by comparing: to
 * look up an id that was just read, the engine has to file the whole string first, which costs more than reading it.
 */
export class OpenItems<T> implements Iterable<[string, T]> {
  #few: [string, T][] = []
  #many: Map<string, T> | undefined

  get(id: string): T | undefined {
    return this.#many ? this.#many.get(id) : this.#find(id)?.[1]
  }

  has(id: string): boolean {
    return this.#many ? this.#many.has(id) : this.#find(id) !== undefined
  }

  set(id: string, item: T): void {
    const known = this.#many ? undefined : this.#find(id)
    if (known) known[1] = item
    else if (this.#many) this.#many.set(id, item)
    else if (this.#few.push([id, item]) > FEW) this.#many = new Map(this.#few)
  }

  delete(id: string): boolean {
    if (this.#many) return this.#many.delete(id)
    const known = this.#find(id)
    if (known === undefined) return false
    if (known === this.#few.at(-1)) this.#few.pop()
    else this.#few.splice(this.#few.indexOf(known), 1)
    return true
  }

  keys(): string[] {
    return this.#all.map(([id]) => id)
  }

  values(): T[] {
    return this.#all.map(([, item]) => item)
  }

  /** Over what is open now: it may be closed on the way. */
  [Symbol.iterator](): Iterator<[string, T]> {
    return this.#all.values()
  }

  get #all(): [string, T][] {
    return [...(this.#many ?? this.#few)]
  }

  /** The newest first: that is what is heard of most. */
  #find(id: string): [string, T] | undefined {
    for (let at = this.#few.length - 1; at >= 0; at--) {
      const item = this.#few[at]
      if (item?.[0] === id) return item
    }
    return undefined
  }
}
