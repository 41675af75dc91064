import { encodeJournal } from '../journal-body.ts'
import type { Batch, LeaseTerms } from '../store.ts'
import type { TableRow } from '../tables.ts'
import { BatchRows } from './batch-rows.ts'

/** A row of the journal, of a session that is known. */
export type JournalRow = Omit<TableRow<'journal'>, 'session'>

/** The context of a batch. */
export interface Circumstances {
  fence: number
  /** The time in which the age of keys is measured. */
  now: number
  /** Encodes the frames now, so that only the result waits. */
  encodes: boolean
  /** Begins the log, with this lease if any. */
  begin?: { terms: LeaseTerms | undefined }
}

/** The rows of a batch, with what the database compares before it adds them. */
export class PreparedBatch extends BatchRows {
  readonly session: string
  readonly fence: number
  readonly begin: Circumstances['begin']
  readonly journal: Omit<JournalRow, 'previous'> | undefined
  readonly release: boolean
  /** The head that the log must have, where the batch has entries. */
  readonly after: number | undefined

  constructor(session: string, batch: Batch, { fence, now, encodes, begin }: Circumstances) {
    super(batch, now)
    this.session = session
    this.fence = fence
    this.begin = begin
    this.journal =
      encodes && this.frames ? { last: this.frames.last, ...encodeJournal(this.frames.text) } : undefined
    this.release = batch.release ?? false
    const [first] = batch.entries
    this.after = first && first.seq - 1
    if (this.journal) this.frames = undefined
  }

  /** The rows that a message takes with it, so that they are not in memory twice. */
  handOver(): Pick<BatchRows, 'log' | 'queued' | 'frames'> {
    const { log, queued, frames } = this
    this.log = []
    this.queued = []
    this.frames = undefined
    return { log, queued, frames }
  }
}
