/** Callers that wait until something has grown past the place that each of them has reached. */
export class Waiters {
  readonly #waiting = new Map<() => void, number>()

  get size(): number {
    return this.#waiting.size
  }

  /** The places that the callers have reached. */
  get places(): readonly number[] {
    return [...this.#waiting.values()]
  }

  /** Settles with the next `wake` beyond this place; also when the signal fires. */
  wait(signal: AbortSignal, place = 0): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.set(wake, place)
      signal.addEventListener('abort', wake)
    })
  }

  /** Wakes callers that have not reached `end`; all of them without it. */
  wake(end = Number.POSITIVE_INFINITY): void {
    for (const [wake, place] of [...this.#waiting]) if (end > place) wake()
  }
}
