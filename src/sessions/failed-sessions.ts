import type { Timers } from '../drivers/driver.ts'
import type { MainstemError } from '../model/index.ts'
import type { Taken, Takeover } from './takeover.ts'

interface Failed {
  error: MainstemError
  /** Settles when nothing of it runs any more. */
  stopped: Promise<void>
  closing: Promise<void> | undefined
  closed: PromiseWithResolvers<void>
  /** Until the next attempt. */
  waitMs: number
}

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 60_000

/**
 * Sessions that could not go on, mostly because their log could not be written. What each had begun is ended in the
 * log as soon as that takes it again; until then nobody can work in it.
 */
export class FailedSessions {
  readonly #timers: Timers
  readonly #takeover: Takeover
  readonly #goOn: (taken: Taken) => Promise<void>
  readonly #failed = new Map<string, Failed>()
  readonly #stop = new AbortController()

  /** `goOn` starts what still waits in a session that is whole again. */
  constructor(timers: Timers, takeover: Takeover, goOn: (taken: Taken) => Promise<void>) {
    this.#timers = timers
    this.#takeover = takeover
    this.#goOn = goOn
  }

  add(id: string, error: MainstemError, stopped: Promise<void>): void {
    // One that fails again as soon as it goes on waits longer, and does not begin anew.
    const before = this.#failed.get(id)?.waitMs
    const waitMs = before === undefined ? 0 : longer(before)
    const failed: Failed = { error, stopped, closing: undefined, closed: Promise.withResolvers(), waitMs }
    this.#failed.set(id, failed)
    // The next start settles it: nothing here would, and `later` must not wait for that.
    if (this.#stop.signal.aborted) failed.closed.resolve()
    void this.#retry(id, failed)
  }

  /** Makes the session whole now, or says why it cannot be. One that never failed is. */
  async whole(id: string): Promise<void> {
    const failed = this.#failed.get(id)
    if (!failed) return
    failed.closing ??= this.#close(id, failed).finally(() => {
      failed.closing = undefined
    })
    await failed.closing
  }

  /** Settles when the session is whole, however long that takes, or when nothing is mended any more. */
  async later(id: string): Promise<void> {
    await this.#failed.get(id)?.closed.promise
  }

  /** Tries once more, and then no more. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.allSettled([...this.#failed.keys()].map((id) => this.whole(id)))
    for (const { closed } of this.#failed.values()) closed.resolve()
  }

  async #retry(id: string, failed: Failed): Promise<void> {
    const isDone = () => this.#failed.get(id) !== failed || this.#stop.signal.aborted
    while (!isDone()) {
      if (failed.waitMs > 0) await this.#timers.sleep(failed.waitMs, this.#stop.signal)
      if (isDone()) return
      failed.waitMs = longer(failed.waitMs)
      // Why it failed is known already, and whoever asks for the session is told.
      await this.whole(id).catch(() => undefined)
    }
  }

  async #close(id: string, failed: Failed): Promise<void> {
    await failed.stopped
    const taken = await this.#takeover.settle(id, failed.error)
    if (taken && !this.#stop.signal.aborted) await this.#goOn(taken)
    // It may have failed again meanwhile.
    if (this.#failed.get(id) === failed) this.#failed.delete(id)
    failed.closed.resolve()
  }
}

function longer(waitMs: number): number {
  return Math.min(Math.max(2 * waitMs, FIRST_WAIT_MS), LONGEST_WAIT_MS)
}
