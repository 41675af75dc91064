import type { Timers } from '../drivers/driver.ts'

/** Sends a process to rest when nobody has talked to it for a while. */
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

  /** After the usual time, unless it is needed again before that. */
  async later(): Promise<void> {
    this.cancel()
    const { signal } = this.#waiting
    await this.#timers.sleep(this.#afterMs, signal)
    if (!signal.aborted) await this.now()
  }

  cancel(): void {
    this.#waiting.abort()
    this.#waiting = new AbortController()
  }

  /** One closing at a time, whoever asks for it. */
  now(): Promise<void> {
    this.#closing ??= this.#close().finally(() => {
      this.#closing = undefined
    })
    return this.#closing
  }

  /** Settles when no closing is under way. */
  async over(): Promise<void> {
    await this.#closing
  }
}
