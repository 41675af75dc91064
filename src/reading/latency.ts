/** Upper bounds of the buckets, in seconds. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** How long something took, counted in buckets. */
export class Latency {
  readonly #counts = BOUNDS.map(() => 0)
  count = 0
  /** In seconds. */
  sum = 0

  observe(ms: number): void {
    // A wall clock can be set back.
    const seconds = Math.max(0, ms) / 1000
    this.count++
    this.sum += seconds
    const bucket = BOUNDS.findIndex((bound) => seconds <= bound)
    if (bucket !== -1) this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
  }

  /** Each bound with the number of observations up to it. */
  *buckets(): Generator<[bound: number, count: number]> {
    let total = 0
    for (const [index, bound] of BOUNDS.entries()) {
      total += this.#counts[index] ?? 0
      yield [bound, total]
    }
  }
}
