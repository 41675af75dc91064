import { RecentBatches } from '../recent-batches.ts'
import type { Recent } from '../recent-log.ts'
import { LiveLog, type Place } from './live-log.ts'

/** So many logs that are not in use are remembered: the next to write something is most likely one of them. */
const IDLE_LOGS = 4096

/** What the database knows, asked when this process does not. */
interface Places {
  place(session: string): Place | undefined
  lastSession(): number
}

/** The logs that are in use, or were lately. Everything else is only in the database. */
export class LiveLogs {
  readonly #places: Places
  readonly #logs = new Map<string, LiveLog>()
  /** Those that were not in use when they were last looked at, oldest first. */
  readonly #idle = new Set<LiveLog>()
  readonly #recent = new RecentBatches<LiveLog>((log) => this.release(log))
  #lastSession: number | undefined

  constructor(places: Places) {
    this.#places = places
    this.#lastSession = places.lastSession()
  }

  get(session: string): LiveLog | undefined {
    const log = this.#logs.get(session)
    if (log && !log.known) log.place(this.#places.place(session))
    return log
  }

  open(session: string): LiveLog {
    const known = this.get(session)
    if (known) return known
    const log = new LiveLog(session, this.#places.place(session))
    this.#logs.set(session, log)
    return log
  }

  /** The number of a session that has no row yet. */
  nextSession(): number {
    this.#lastSession = (this.#lastSession ?? this.#places.lastSession()) + 1
    return this.#lastSession
  }

  /** Tells those who wait, and keeps the entries for them: they will ask at once. */
  committed(log: LiveLog, { entries, texts, chars }: Recent & { chars: number }): void {
    const last = entries.at(-1)
    if (!last) return
    this.#recent.keep(log, { entries, texts }, chars)
    log.advance(last.seq)
  }

  /** A log that nobody uses any more is left to the database, in its turn. */
  release(log: LiveLog): void {
    if (!log.isIdle || this.#logs.get(log.session) !== log) return
    this.#idle.delete(log)
    this.#idle.add(log)
    if (this.#idle.size > IDLE_LOGS) this.#forgetIdle()
  }

  /** A deleted log begins again, for everybody from now on; the database follows. */
  restart(session: string): LiveLog {
    const old = this.#logs.get(session)
    const log = new LiveLog(session, undefined)
    this.#logs.set(session, log)
    old?.wakeAll()
    return log
  }

  /** After a failure only the database knows what is in it. */
  distrust(): void {
    this.#lastSession = undefined
    for (const log of this.#logs.values()) log.known = false
  }

  /** Nothing is known from now on, so that whoever waits and reads on is told by the database. */
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
    // It may have been used again since, and is then looked at again.
    if (oldest.isIdle && this.#logs.get(oldest.session) === oldest) this.#logs.delete(oldest.session)
  }
}
