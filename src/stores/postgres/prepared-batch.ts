import type { Entry } from '../../model/index.ts'
import { type AcceptedPrompt, isWhole, queuePreview } from '../../model/queue-preview.ts'
import { blobOf } from '../blob-of.ts'
import { checksum } from '../checksum.ts'
import { encodeJournal, type JournalBody, joinFrames } from '../journal-body.ts'
import { type LogRow, toRows, toTexts } from '../log-rows.ts'
import { receiptId } from '../receipt-id.ts'
import type { Batch, Charge, FrameCounts, LeaseTerms, Receipt, StoredState } from '../store.ts'

export interface JournalRow extends JournalBody {
  last: number
}

export interface TextRow {
  text: string
}

export interface RecordRow extends TextRow {
  principal: string
  status: string
  asking: boolean
  /** Native conversations that the record names. */
  natives: readonly string[]
}

export interface QueuedRow extends TextRow {
  turn: number
  /** The whole prompt, where `text` is only a part of it. */
  whole?: string
}

export interface ReceiptRow extends TextRow {
  id: string
  session: string
  at: number
}

/** The context of a batch. */
export interface Circumstances {
  fence: number
  /** The time in which the age of keys is measured. */
  now: number
  /** Begins the log, with this lease if any. */
  begin?: { terms: LeaseTerms | undefined }
}

/** A serialised batch. A value that JSON cannot represent fails here, and fails only its own batch. */
export class PreparedBatch {
  readonly session: string
  readonly fence: number
  readonly begin: Circumstances['begin']
  readonly chars: number
  readonly entries: readonly Entry[]
  readonly texts: readonly string[]
  readonly rows: readonly LogRow[]
  readonly journal: JournalRow | undefined
  readonly record: RecordRow | undefined
  readonly queued: readonly QueuedRow[]
  readonly dequeued: readonly number[]
  readonly frameCounts: FrameCounts | undefined
  readonly receipts: readonly ReceiptRow[]
  readonly charges: readonly Charge[]
  readonly blobs: readonly string[]
  readonly release: boolean

  constructor(session: string, batch: Batch, { fence, now, begin }: Circumstances) {
    const { entries, journal = [], record, queued = [], receipts = [] } = batch
    this.session = session
    this.fence = fence
    this.begin = begin
    this.entries = entries
    this.texts = toTexts(entries)
    this.rows = toRows(entries, this.texts)
    const lastFrame = journal.at(-1)
    this.journal = lastFrame && { last: lastFrame.frame, ...encodeJournal(joinFrames(journal)) }
    this.record = record && recordRow(record)
    this.queued = queued.map(queuedRow)
    this.dequeued = batch.dequeued ?? []
    this.frameCounts = batch.frameCounts
    this.receipts = receipts.map((receipt) => receiptRow(receipt, now))
    this.charges = batch.charges ?? []
    this.blobs = entries.flatMap(({ event }) => blobOf(event)?.id ?? [])
    this.release = batch.release ?? false
    const texts = [...this.rows, ...this.queued].reduce((sum, { text }) => sum + text.length, 0)
    const wholes = this.queued.reduce((sum, { whole = '' }) => sum + whole.length, 0)
    this.chars = texts + wholes + (this.journal?.body.length ?? 0)
  }

  /** The head that the log must have, where the batch has entries. */
  get after(): number | undefined {
    const [first] = this.entries
    return first && first.seq - 1
  }
}

function recordRow(record: StoredState): RecordRow {
  const { principal, status, requests, nativeSessionId, announcedSessionId, resumedFrom } = record
  const natives = [nativeSessionId, announcedSessionId, resumedFrom].filter((id) => id !== undefined)
  return { principal, status, asking: requests.length > 0, text: JSON.stringify(record), natives }
}

function queuedRow(prompt: AcceptedPrompt): QueuedRow {
  const preview = queuePreview(prompt)
  const row = { turn: prompt.turn, text: JSON.stringify(preview) }
  return isWhole(preview) ? row : { ...row, whole: JSON.stringify(prompt) }
}

function receiptRow(receipt: Receipt, at: number): ReceiptRow {
  const { scope, key, session } = receipt
  return { id: receiptId(scope, key), session, at, text: JSON.stringify(receipt) }
}

/** The checksums of rows: of every column that is read, and of the session, so that no row can stand for another. */
export const sums = {
  log: (session: string, { first, last, text }: LogRow, version: number) =>
    checksum([first, last, version], session, text),
  journal: (session: string, { last, encoding, body }: JournalRow) =>
    checksum([last, encoding], session, body),
  record: (session: string, { principal, status, asking, text }: Omit<RecordRow, 'natives'>) =>
    checksum([Number(asking)], session, principal, status, text),
  queued: (session: string, { turn, text }: QueuedRow) => checksum([turn], session, text),
  receipt: ({ id, session, text }: Omit<ReceiptRow, 'at'>) => checksum([], id, session, text),
}
