/** Work that outlives its request. A stopping server waits for it. */
export class BackgroundWork {
  readonly #running = new Set<Promise<unknown>>()
  readonly #report: (thrown: unknown) => void

  constructor(report: (thrown: unknown) => void) {
    this.#report = report
  }

  track(run: Promise<unknown>): void {
    const tracked = run.catch(this.#report).finally(() => this.#running.delete(tracked))
    this.#running.add(tracked)
  }

  /** Settles when no work is left. */
  async done(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }
}
