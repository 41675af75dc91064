import { MainstemError } from '../../model/index.ts'

/** Counts and limits the open streams of each principal. */
export class StreamQuota {
  readonly #limit: number
  readonly #open = new Map<string, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** The number of open streams of all principals. */
  get open(): number {
    let open = 0
    for (const count of this.#open.values()) open += count
    return open
  }

  /** Reserves a stream; throws `overloaded` at the limit. The returned function releases it. */
  enter(principal: string): () => void {
    const open = this.#open.get(principal) ?? 0
    if (open >= this.#limit) throw new MainstemError('overloaded', `${open} streams are already open`)
    this.#open.set(principal, open + 1)
    return () => this.#leave(principal)
  }

  #leave(principal: string): void {
    const open = (this.#open.get(principal) ?? 0) - 1
    if (open > 0) this.#open.set(principal, open)
    else this.#open.delete(principal)
  }
}
