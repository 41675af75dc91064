import type { ValidTime } from './access.ts'

/** Ids that were used once, in a store of one process: those from before the process are refused. */
export class UsedIds {
  readonly #clock: () => number
  readonly #began: number
  /** Until when each used id is valid. */
  readonly #used = new Map<string, number>()

  constructor(clock: () => number = Date.now) {
    this.#clock = clock
    this.#began = clock()
  }

  async now(): Promise<number> {
    return this.#clock()
  }

  async consume(id: string, { from, until }: ValidTime): Promise<boolean> {
    const now = this.#clock()
    for (const [used, end] of this.#used) if (end < now) this.#used.delete(used)
    const isValid = from >= this.#began && from <= now && now < until
    if (!isValid || this.#used.has(id)) return false
    this.#used.set(id, until)
    return true
  }
}
