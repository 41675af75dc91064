import { FIRST_FENCE } from '../store.ts'
import { toColumn } from './columns.ts'
import type { PreparedBatch, QueuedRow } from './prepared-batch.ts'

/** The last known state of a session. A commit is accepted only if it is still current. */
export interface Place {
  fence: number
  writes: number
  head: number
  /** `writes` when the current lease began. */
  inherited: number
}

/** Batches of one session that follow each other, committed as one. */
export class Run {
  readonly session: string
  readonly fence: number
  readonly batches: PreparedBatch[]
  /** Undefined while the session has no row. */
  place: Place | undefined
  /** The connection broke while it was written, so it may be stored. */
  inDoubt = false
  #last: number | undefined

  constructor(batch: PreparedBatch) {
    this.session = batch.session
    this.fence = batch.fence
    this.batches = [batch]
    this.#last = batch.entries.at(-1)?.seq
  }

  /** Adds a batch if it continues this run. The database refuses a batch that does not. */
  add(batch: PreparedBatch): boolean {
    const { after } = batch
    const continues = after === undefined || this.#last === undefined || after === this.#last
    // If only a later batch has entries, their head is the head before the run.
    if (!continues || batch.fence !== this.fence || batch.begin || this.batches[0]?.begin) return false
    this.batches.push(batch)
    this.#last = batch.entries.at(-1)?.seq ?? this.#last
    return true
  }

  /** The head that the log must have; undefined if there are no entries. */
  get after(): number | undefined {
    return this.batches.find(({ after }) => after !== undefined)?.after
  }

  /** The session as its column has it. */
  get id(): string {
    return toColumn(this.session)
  }

  get added(): number {
    return this.batches.reduce((sum, { entries }) => sum + entries.length, 0)
  }

  /** When the last entry was made. */
  get at(): number | undefined {
    return this.batches.findLast(({ entries }) => entries.length > 0)?.entries.at(-1)?.at
  }

  /** The state of the session after the commit of the run. */
  get outcome(): Place {
    const { head = 0, writes = 0, inherited = 0 } = this.place ?? {}
    return { fence: this.fenceAfter, writes: writes + 1, head: head + this.added, inherited }
  }

  get fenceAfter(): number {
    return this.terms ? FIRST_FENCE : this.fence
  }

  get terms(): { owner: string; ttlMs: number } | undefined {
    return this.batches[0]?.begin?.terms
  }

  get releases(): boolean {
    return this.batches.some(({ release }) => release)
  }

  /** The changes of the queue, without prompts that were added and removed in the same run. */
  get queue(): { queued: QueuedRow[]; dequeued: number[] } {
    const queued = new Map<number, QueuedRow>()
    const dequeued = new Set<number>()
    for (const batch of this.batches) {
      for (const row of batch.queued) queued.set(row.turn, row)
      for (const turn of batch.dequeued) if (!queued.delete(turn)) dequeued.add(turn)
    }
    return { queued: [...queued.values()], dequeued: [...dequeued] }
  }
}
