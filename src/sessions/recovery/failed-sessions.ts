import type { Timers } from '../../drivers/driver.ts'
import { MainstemError, toMainstemError } from '../../model/index.ts'
import type { LogReader } from '../../reading/log-reader.ts'
import type { LeasedSession, Takeover } from './takeover.ts'

interface Failed {
  error: MainstemError
  /** Settles when its process has stopped. */
  stopped: Promise<void>
  closing: Promise<void> | undefined
  closed: PromiseWithResolvers<void>
  /** The delay before the next attempt. */
  waitMs: number
}

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 60_000

/**
 * Repairs sessions that failed, mostly because their log could not be written: retries until it can log the end of
 * the open turn and of everything else left open. A failed session accepts no work before that.
 */
export class FailedSessions {
  readonly #timers: Timers
  readonly #takeover: Takeover
  readonly #resume: (leased: LeasedSession) => Promise<void>
  readonly #readers: Pick<LogReader, 'unwritable' | 'writable'>
  readonly #failed = new Map<string, Failed>()
  readonly #stop = new AbortController()

  /** `resume` starts the queued prompts of a repaired session. `readers` learn which logs cannot be written. */
  constructor(
    timers: Timers,
    takeover: Takeover,
    resume: (leased: LeasedSession) => Promise<void>,
    readers: Pick<LogReader, 'unwritable' | 'writable'>,
  ) {
    this.#timers = timers
    this.#takeover = takeover
    this.#resume = resume
    this.#readers = readers
  }

  add(id: string, error: MainstemError, stopped: Promise<void>): void {
    // A session that fails again right after its repair continues the backoff.
    const before = this.#failed.get(id)?.waitMs
    const waitMs = before === undefined ? 0 : nextWait(before)
    const failed: Failed = { error, stopped, closing: undefined, closed: Promise.withResolvers(), waitMs }
    this.#failed.set(id, failed)
    // After `stop` nothing retries; the next start of the server repairs it.
    if (this.#stop.signal.aborted) failed.closed.resolve()
    void this.#retry(id, failed)
  }

  has(id: string): boolean {
    return this.#failed.has(id)
  }

  /** Repairs the session now, or throws. Does nothing for a session that has not failed. */
  async repair(id: string): Promise<void> {
    const failed = this.#failed.get(id)
    if (!failed) return
    failed.closing ??= this.#close(id, failed).finally(() => {
      failed.closing = undefined
    })
    try {
      await failed.closing
    } catch (thrown) {
      const { code, message, details } = toMainstemError(thrown)
      if (code !== 'storage_failed' || !this.#failed.has(id)) throw thrown
      const error = new MainstemError(code, message, { ...details, unwritable: true }, { cause: thrown })
      this.#readers.unwritable(id, error)
      throw error
    }
  }

  /** Settles when the session is repaired, or when repairs have stopped. */
  async repaired(id: string): Promise<void> {
    await this.#failed.get(id)?.closed.promise
  }

  /** Tries each session once more, then stops. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.allSettled([...this.#failed.keys()].map((id) => this.repair(id)))
    for (const { closed } of this.#failed.values()) closed.resolve()
  }

  async #retry(id: string, failed: Failed): Promise<void> {
    const isDone = () => this.#failed.get(id) !== failed || this.#stop.signal.aborted
    while (!isDone()) {
      if (failed.waitMs > 0) await this.#timers.sleep(failed.waitMs, this.#stop.signal)
      if (isDone()) return
      failed.waitMs = nextWait(failed.waitMs)
      // Callers that open the session get the error from their own attempt.
      await this.repair(id).catch(() => undefined)
    }
  }

  async #close(id: string, failed: Failed): Promise<void> {
    await failed.stopped
    const leased = await this.#takeover.settle(id, failed.error)
    this.#readers.writable(id)
    if (leased && !this.#stop.signal.aborted) await this.#resume(leased)
    // It may have failed again during `resume`; that entry stays.
    if (this.#failed.get(id) === failed) this.#failed.delete(id)
    failed.closed.resolve()
  }
}

function nextWait(waitMs: number): number {
  return Math.min(Math.max(2 * waitMs, FIRST_WAIT_MS), LONGEST_WAIT_MS)
}
