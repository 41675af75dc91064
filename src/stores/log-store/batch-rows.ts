import type { Entry } from '../../model/index.ts'
import { type AcceptedPrompt, isWhole, queuePreview } from '../../model/session/queue-preview.ts'
import { blobsOf } from '../blob-of.ts'
import { joinFrames } from '../journal-body.ts'
import { type LogRow, toRows, toTexts } from '../log-rows.ts'
import type { Batch, Charge, FrameCounts, Receipt, StoredState } from '../store.ts'
import type { TableRow } from '../tables.ts'

/** A queued prompt of a batch. */
export type QueuedRow = Omit<TableRow<'queued'>, 'session'>

/** The record of a session, and the native conversations that it names. */
export interface RecordRow {
  principal: string
  status: string
  asking: boolean
  record: string
  natives: readonly string[]
}

/** The rows of a batch. A value that JSON cannot represent fails here, and fails only its own batch. */
export class BatchRows {
  readonly entries: readonly Entry[]
  readonly texts: readonly string[]
  log: readonly LogRow[]
  /** Raw frames as one text. */
  frames: { last: number; text: string } | undefined
  readonly record: RecordRow | undefined
  queued: readonly QueuedRow[]
  readonly dequeued: readonly number[]
  readonly frameCounts: FrameCounts | undefined
  readonly receipts: readonly TableRow<'receipt'>[]
  readonly charges: readonly Charge[]
  /** The blobs that the entries refer to. */
  readonly blobs: readonly string[]
  /** The size of its texts. */
  readonly chars: number

  /** `now` is the time in which the age of keys is measured. */
  constructor(batch: Batch, now: number) {
    const { entries, journal = [], record, queued = [], receipts = [] } = batch
    this.entries = entries
    this.texts = toTexts(entries)
    this.log = toRows(entries, this.texts)
    const lastFrame = journal.at(-1)
    this.frames = lastFrame && { last: lastFrame.frame, text: joinFrames(journal) }
    this.record = record && recordRow(record)
    this.queued = queued.map(queuedRow)
    this.dequeued = batch.dequeued ?? []
    this.frameCounts = batch.frameCounts
    this.receipts = receipts.map((receipt) => receiptRow(receipt, now))
    this.charges = batch.charges ?? []
    this.blobs = entries.flatMap((entry) => blobsOf(entry).map(({ id }) => id))
    this.chars =
      [...this.log, ...this.queued].reduce((sum, { body }) => sum + body.length, 0) +
      this.queued.reduce((sum, { whole }) => sum + (whole?.length ?? 0), 0) +
      (this.frames?.text.length ?? 0)
  }
}

function recordRow(record: StoredState): RecordRow {
  const { principal, status, requests, nativeSessionId, announcedSessionId, resumedFrom } = record
  const natives = [nativeSessionId, announcedSessionId, resumedFrom].filter((id) => id !== undefined)
  return { principal, status, asking: requests.length > 0, record: JSON.stringify(record), natives }
}

function queuedRow(prompt: AcceptedPrompt): QueuedRow {
  const preview = queuePreview(prompt)
  const whole = isWhole(preview) ? null : JSON.stringify(prompt)
  return { turn: prompt.turn, body: JSON.stringify(preview), whole }
}

function receiptRow(receipt: Receipt, at: number): TableRow<'receipt'> {
  const { scope, key, session } = receipt
  return { id: receiptId(scope, key), session, at, body: JSON.stringify(receipt) }
}

/** JSON separates the two unambiguously. */
export function receiptId(scope: string, key: string): string {
  return JSON.stringify([scope, key])
}
