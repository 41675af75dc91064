/** Our calls to the agent that have no response yet, and the interrupts among them that have had no effect yet. */
export class Calls<Call> {
  readonly #pending = new Map<unknown, Call>()
  readonly #interrupts = new Set<unknown>()
  #count = 0

  /** The number of the last call of ours. */
  get count(): number {
    return this.#count
  }

  /** Whether an interrupt has neither a response nor a visible effect. */
  get isInterrupting(): boolean {
    return this.#interrupts.size > 0
  }

  /** The number of the next call. */
  next(): number {
    return ++this.#count
  }

  /** Records a call that was sent, by us or in a transcript. */
  add(id: unknown, call: Call): void {
    this.#pending.set(id, call)
  }

  /** Whether a call has no response yet. */
  has(id: unknown): boolean {
    return this.#pending.has(id)
  }

  interrupt(id: unknown): void {
    this.#interrupts.add(id)
  }

  /** Removes the call that a response belongs to. */
  take(id: unknown): Call | undefined {
    const call = this.#pending.get(id)
    this.#pending.delete(id)
    this.#interrupts.delete(id)
    return call
  }

  /** A turn ended as interrupted. */
  confirmInterrupts(): void {
    this.#interrupts.clear()
  }

  /** Whether a call of this kind has no response yet. */
  some(is: (call: Call) => boolean): boolean {
    return [...this.#pending.values()].some(is)
  }
}
