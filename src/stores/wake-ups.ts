/** Callers that wait for something with a name. */
export class WakeUps {
  readonly #waiting = new Map<string, Set<() => void>>()

  /** Settles with the next `wake` of this name; also when the signal fires. */
  wait(name: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(name) ?? new Set()
      const wake = () => {
        waiting.delete(wake)
        if (waiting.size === 0 && this.#waiting.get(name) === waiting) this.#waiting.delete(name)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.set(name, waiting.add(wake))
      signal.addEventListener('abort', wake)
    })
  }

  wake(name: string): void {
    for (const wake of [...(this.#waiting.get(name) ?? [])]) wake()
  }
}
