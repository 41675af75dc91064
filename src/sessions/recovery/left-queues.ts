import type { Timers } from '../../drivers/driver.ts'
import { type ErrorCode, isDamaged, toMainstemError } from '../../model/index.ts'
import type { FailedSessions } from './failed-sessions.ts'

/** The delay before queues without a free process are tried again. */
const RETRY_MS = 1_000

/** The session has ended, was deleted, or has another owner, so this server must not start its queue. */
const NOT_OURS: ReadonlySet<ErrorCode> = new Set(['conflict', 'draining', 'fenced', 'session_not_found'])

export interface LeftQueuesDeps {
  timers: Pick<Timers, 'sleep'>
  failed: Pick<FailedSessions, 'add' | 'has'>
  principalOf(id: string): Promise<string | undefined>
  start(id: string): Promise<void>
}

/** Starts the queues of recovered sessions, as agent processes become free. */
export class LeftQueues {
  readonly #deps: LeftQueuesDeps
  readonly #stopped = new AbortController()
  #ids: string[] = []

  constructor(deps: LeftQueuesDeps) {
    this.#deps = deps
  }

  add(...ids: readonly string[]): void {
    this.#ids.push(...ids)
  }

  /** Leaves the other queues in the store. */
  stop(): void {
    this.#stopped.abort()
  }

  /**
   * Starts each queue; a principal whose processes are busy does not delay the queues of others. Throws at the end if
   * sessions cannot run on this server, for example because their agent was removed.
   */
  async start(): Promise<void> {
    const refused: unknown[] = []
    let left = this.#ids.splice(0)
    while (left.length > 0 && !this.#stopped.signal.aborted) {
      left = await this.#startEach(left, refused)
      if (left.length > 0) await this.#deps.timers.sleep(RETRY_MS, this.#stopped.signal)
    }
    if (refused.length > 0) throw new AggregateError(refused, 'queued prompts cannot run on this server')
  }

  /** Returns the sessions that have no process yet. */
  async #startEach(ids: readonly string[], refused: unknown[]): Promise<string[]> {
    const left: string[] = []
    const busy = new Set<string | undefined>()
    for (const id of ids) {
      let principal: string | undefined
      try {
        principal = await this.#deps.principalOf(id)
        if (!busy.has(principal)) {
          await this.#deps.start(id)
          continue
        }
      } catch (thrown) {
        if (toMainstemError(thrown).code !== 'overloaded') {
          this.#failedToStart(id, thrown, refused)
          continue
        }
        busy.add(principal)
      }
      left.push(id)
    }
    return left
  }

  #failedToStart(id: string, thrown: unknown, refused: unknown[]): void {
    const error = toMainstemError(thrown)
    if (isDamaged(thrown, id) || NOT_OURS.has(error.code)) return
    // The repair starts the queue. A session that failed by itself is being repaired already.
    if (error.code !== 'storage_failed') refused.push(thrown)
    else if (!this.#deps.failed.has(id)) this.#deps.failed.add(id, error, Promise.resolve())
  }
}
