import { MainstemError } from '../../model/index.ts'

/** Counts the open streams of each principal. */
export class StreamQuota {
  readonly #limit: number
  readonly #open = new Map<string, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** How many there are, of everybody. */
  get open(): number {
    let open = 0
    for (const count of this.#open.values()) open += count
    return open
  }

  /** Takes a place, or refuses with `overloaded`. The returned function gives it back. */
  enter(principal: string): () => void {
    const open = this.#open.get(principal) ?? 0
    if (open >= this.#limit) throw new MainstemError('overloaded', `${open} streams are open already`)
    this.#open.set(principal, open + 1)
    return () => this.#leave(principal)
  }

  #leave(principal: string): void {
    const open = (this.#open.get(principal) ?? 0) - 1
    if (open > 0) this.#open.set(principal, open)
    else this.#open.delete(principal)
  }
}
