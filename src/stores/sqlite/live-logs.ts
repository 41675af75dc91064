import { RecentBatches } from '../recent-batches.ts'
import type { Recent } from '../recent-log.ts'
import { LiveLog, type StoredLog } from './live-log.ts'

/** The number of unused logs to keep: the next write is most likely to one of them. */
const IDLE_LOGS = 4096

/** Loads logs that are not in memory. */
interface LogSource {
  storedLog(session: string): StoredLog | undefined
  lastSession(): number
}

/** The logs that are in use or were recently. All others are only in the database. */
export class LiveLogs {
  readonly #source: LogSource
  readonly #logs = new Map<string, LiveLog>()
  /** Logs that were unused at the last check, oldest first. */
  readonly #idle = new Set<LiveLog>()
  readonly #recent = new RecentBatches<LiveLog>((log) => this.release(log))
  #lastSession: number | undefined

  constructor(source: LogSource) {
    this.#source = source
    this.#lastSession = source.lastSession()
  }

  get(session: string): LiveLog | undefined {
    const log = this.#logs.get(session)
    if (log && !log.known) log.load(this.#source.storedLog(session))
    return log
  }

  open(session: string): LiveLog {
    const known = this.get(session)
    if (known) return known
    const log = new LiveLog(session, this.#source.storedLog(session))
    this.#logs.set(session, log)
    return log
  }

  /** The number of a session that has no row yet. */
  nextSession(): number {
    this.#lastSession = (this.#lastSession ?? this.#source.lastSession()) + 1
    return this.#lastSession
  }

  /** Wakes the waiting readers, and caches the entries for their reads. */
  committed(log: LiveLog, { entries, texts, chars }: Recent & { chars: number }): void {
    const last = entries.at(-1)
    if (!last) return
    this.#recent.keep(log, { entries, texts }, chars)
    log.advance(last.seq)
  }

  /** Schedules a log for eviction if it is not in use. */
  release(log: LiveLog): void {
    if (!log.isIdle || this.#logs.get(log.session) !== log) return
    this.#idle.delete(log)
    this.#idle.add(log)
    if (this.#idle.size > IDLE_LOGS) this.#forgetIdle()
  }

  /** Resets a deleted log at once; the database follows. */
  restart(session: string): LiveLog {
    const old = this.#logs.get(session)
    const log = new LiveLog(session, undefined)
    this.#logs.set(session, log)
    old?.wakeAll()
    return log
  }

  /** After a failure, the state must be loaded from the database. */
  distrust(): void {
    this.#lastSession = undefined
    for (const log of this.#logs.values()) log.known = false
  }

  /** Marks all logs as unknown, so that waiting readers read the database. */
  close(): void {
    const logs = [...this.#logs.values()]
    this.#logs.clear()
    this.#idle.clear()
    this.#recent.clear()
    for (const log of logs) log.wakeAll()
  }

  #forgetIdle(): void {
    const [oldest] = this.#idle
    if (!oldest) return
    this.#idle.delete(oldest)
    // It may be in use again, and is then checked again later.
    if (oldest.isIdle && this.#logs.get(oldest.session) === oldest) this.#logs.delete(oldest.session)
  }
}
