/** The work that goes on without a request, so that a stopping server can wait for it. */
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

  /** Settles when nothing runs any more. */
  async done(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }
}
