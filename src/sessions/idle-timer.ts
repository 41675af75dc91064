import type { Timers } from '../drivers/driver.ts'

/** Closes a process that has been idle for a while. */
export class IdleTimer {
  readonly #timers: Timers
  readonly #afterMs: number
  readonly #close: () => Promise<void>
  #waiting = new AbortController()
  #closing: Promise<void> | undefined

  constructor(timers: Timers, afterMs: number, close: () => Promise<void>) {
    this.#timers = timers
    this.#afterMs = afterMs
    this.#close = close
  }

  /** Closes after the idle time, unless cancelled or restarted before. */
  async restart(): Promise<void> {
    this.cancel()
    const { signal } = this.#waiting
    await this.#timers.sleep(this.#afterMs, signal)
    if (!signal.aborted) await this.closeNow()
  }

  cancel(): void {
    this.#waiting.abort()
    this.#waiting = new AbortController()
  }

  /** Concurrent calls share one close. */
  closeNow(): Promise<void> {
    this.#closing ??= this.#close().finally(() => {
      this.#closing = undefined
    })
    return this.#closing
  }

  /** Settles when no close is in progress. */
  async closed(): Promise<void> {
    await this.#closing
  }
}
