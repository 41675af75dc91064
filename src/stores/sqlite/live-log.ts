import { RecentLog } from '../recent-log.ts'
import { NO_FENCE } from '../store.ts'

/** Where a log is in the database: the number of its session, the last seq, and its lease. */
export interface Place {
  n: number
  head: number
  fence: number
  owner: string | undefined
}

/** What this process knows of a log that is being written or waited for. */
export class LiveLog extends RecentLog {
  /** Undefined while the session has no row. */
  n: number | undefined
  /** The last seq that was given out. */
  head: number
  /** The lease with all batches that were given a place; `owner` is undefined while nobody has one. */
  fence: number
  owner: string | undefined
  /** False after a failure: what was given out may not be there. */
  known = true
  /** Batches on their way. */
  pending = 0

  constructor(session: string, place: Place | undefined) {
    super(session, place?.head ?? 0)
    this.n = place?.n
    this.head = place?.head ?? 0
    this.fence = place?.fence ?? NO_FENCE
    this.owner = place?.owner
  }

  override get isIdle(): boolean {
    return this.pending === 0 && super.isIdle
  }

  /** Takes what the database says instead of what was believed. */
  place(place: Place | undefined): void {
    this.n = place?.n
    this.head = place?.head ?? 0
    this.fence = place?.fence ?? NO_FENCE
    this.owner = place?.owner
    this.known = true
    // Recent entries have to end where the log does, or a reader would miss what lies between.
    if (this.head !== this.committed) this.recent.length = 0
    this.advance(this.head)
  }
}
