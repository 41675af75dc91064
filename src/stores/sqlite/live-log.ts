import { RecentLog } from '../recent-log.ts'
import { NO_FENCE } from '../store.ts'

/** A log as the database has it: the number of its session, the last seq, and its lease. */
export interface StoredLog {
  n: number
  head: number
  fence: number
  owner: string | undefined
}

/** The state of a log that is being written or followed. */
export class LiveLog extends RecentLog {
  /** Undefined while the session has no row. */
  n: number | undefined
  /** The last seq that was given out. */
  head: number
  /** The lease after all queued batches; `owner` is undefined without a lease. */
  fence: number
  owner: string | undefined
  /** False after a failure: assigned entries may be missing from the database. */
  known = true
  /** Batches in flight. */
  pending = 0

  constructor(session: string, stored: StoredLog | undefined) {
    super(session, stored?.head ?? 0)
    this.n = stored?.n
    this.head = stored?.head ?? 0
    this.fence = stored?.fence ?? NO_FENCE
    this.owner = stored?.owner
  }

  override get isIdle(): boolean {
    return this.pending === 0 && super.isIdle
  }

  /** Loads the state from the database. */
  load(stored: StoredLog | undefined): void {
    this.n = stored?.n
    this.head = stored?.head ?? 0
    this.fence = stored?.fence ?? NO_FENCE
    this.owner = stored?.owner
    this.known = true
    // Recent entries must end at the head, or a reader would miss the entries in between.
    if (this.head !== this.committed) this.recent.length = 0
    this.advance(this.head)
  }
}
