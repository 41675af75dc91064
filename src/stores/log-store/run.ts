import { FIRST_FENCE, type LeaseTerms } from '../store.ts'
import type { SessionPlace } from './backend.ts'
import type { PreparedBatch } from './prepared-batch.ts'

/** Batches of one session that follow each other, committed as one. */
export class CommitRun<P extends SessionPlace> {
  readonly session: string
  readonly fence: number
  readonly batches: PreparedBatch[]
  /** Whether it must begin the session. */
  readonly begins: boolean
  /** The lease that the session begins with. */
  readonly terms: LeaseTerms | undefined
  /** The fence of the session after the run. */
  readonly fenceAfter: number
  /** The head that the log must have; undefined if there are no entries. */
  after: number | undefined
  /** How many entries it has. */
  added: number
  releases: boolean
  /** Undefined while the session has no row. */
  place: P | undefined
  /** The connection broke while it was written, so it may be stored. */
  inDoubt = false

  constructor(batch: PreparedBatch) {
    this.session = batch.session
    this.fence = batch.fence
    this.batches = [batch]
    this.begins = batch.begin !== undefined
    this.terms = batch.begin?.terms
    this.fenceAfter = this.terms ? FIRST_FENCE : batch.fence
    this.after = batch.after
    this.added = batch.entries.length
    this.releases = batch.release
  }

  /** Adds a batch if it continues this run. The database refuses a batch that does not. */
  add(batch: PreparedBatch): boolean {
    // If only a later batch has entries, their head is the head before the run.
    const last = this.after === undefined ? undefined : this.after + this.added
    const continues = batch.after === undefined || last === undefined || batch.after === last
    if (!continues || batch.fence !== this.fence || batch.begin || this.begins) return false
    this.batches.push(batch)
    this.after ??= batch.after
    this.added += batch.entries.length
    this.releases ||= batch.release
    return true
  }
}
