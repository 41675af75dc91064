import { blobsOf } from '../../model/entry-blobs.ts'
import type { Entry } from '../../model/index.ts'
import { type AcceptedPrompt, isWhole, queuePreview } from '../../model/session/queue-preview.ts'
import { type AuditRow, auditRow } from '../access-rows.ts'
import { type CallRow, callRow } from '../calls/call-statements.ts'
import { chargeRow } from '../daily-usage.ts'
import { encodeJournal, joinFrames } from '../journal-body.ts'
import { type LogRow, toLogRows } from '../log-rows.ts'
import { receiptRow } from '../receipts.ts'
import { checkContinues } from '../refusals.ts'
import type { Batch, FrameCounts, LeaseTerms, StoredState } from '../store.ts'
import type { TableRow } from '../tables.ts'
import type { Backend, SessionPlace } from './backend.ts'

/** A queued prompt of a batch. */
export type QueuedRow = Omit<TableRow<'queued'>, 'session'>

/** A row of the journal, of a session that is known. */
export type JournalRow = Omit<TableRow<'journal'>, 'session'>

/** The record of a session, and the native conversations that it names. */
export interface RecordRow {
  principal: string
  status: string
  asking: boolean
  single: boolean
  record: string
  natives: readonly string[]
}

/** The context of a batch. */
export interface Circumstances {
  fence: number
  /** Its clock measures the age of keys. If it encodes frames, they are encoded now, so that only the result waits. */
  backend: Pick<Backend<SessionPlace>, 'now' | 'encodesFrames'>
  /** Begins the log, with this lease if any. */
  begin?: { terms: LeaseTerms | undefined }
}

/** The rows of a batch, with what the database compares before it adds them. */
export interface PreparedBatch {
  readonly session: string
  readonly fence: number
  readonly begin: Circumstances['begin']
  /** The head that the log must have, where the batch has entries. */
  readonly after: number | undefined
  readonly entries: readonly Entry[]
  readonly texts: readonly string[]
  log: readonly LogRow[]
  /** Raw frames as one text, where the database encodes them. */
  frames: { last: number; text: string } | undefined
  readonly journal: Omit<JournalRow, 'previous'> | undefined
  readonly record: RecordRow | undefined
  queued: readonly QueuedRow[]
  readonly dequeued: readonly number[]
  readonly frameCounts: FrameCounts | undefined
  readonly receipts: readonly TableRow<'receipt'>[]
  readonly charges: readonly TableRow<'spent'>[]
  readonly facts: readonly AuditRow[]
  readonly calls: readonly CallRow[]
  /** The blobs that the entries refer to. */
  readonly blobs: readonly string[]
  readonly release: boolean
  /** The size of its texts. */
  readonly chars: number
}

const NONE: readonly never[] = []

/** A value that JSON cannot represent fails here, and fails only its own batch. */
export function prepareBatch(session: string, batch: Batch, circumstances: Circumstances): PreparedBatch {
  const { entries, record, queued, receipts, frameCounts, dequeued = NONE, charges } = batch
  const { fence, backend, begin } = circumstances
  const { encodesFrames: encodes } = backend
  const after = entries[0] && entries[0].seq - 1
  checkContinues(session, after ?? 0, entries)
  const { texts, rows: log } = toLogRows(entries)
  const blobs: string[] = []
  for (const entry of entries) for (const { id } of blobsOf(entry)) blobs.push(id)
  const lastFrame = batch.journal?.at(-1)?.frame
  const frames =
    lastFrame === undefined ? undefined : { last: lastFrame, text: joinFrames(batch.journal ?? NONE) }
  const prompts = queued ? queued.map(queuedRow) : NONE
  let chars = frames?.text.length ?? 0
  for (const { body } of log) chars += body.length
  for (const { body, whole } of prompts) chars += body.length + (whole?.length ?? 0)
  return {
    ...{ session, fence, begin, after, entries, texts, log, dequeued, frameCounts, chars },
    frames: encodes ? undefined : frames,
    charges: charges ? charges.map(chargeRow) : NONE,
    facts: batch.facts ? batch.facts.map(auditRow) : NONE,
    calls: batch.calls ? batch.calls.map(callRow) : NONE,
    journal: encodes && frames ? { last: frames.last, ...encodeJournal(frames.text) } : undefined,
    record: record && recordRow(record),
    queued: prompts,
    receipts: receipts ? receipts.map((receipt) => receiptRow(receipt, backend.now())) : NONE,
    blobs,
    release: batch.release ?? false,
  }
}

function recordRow(record: StoredState): RecordRow {
  const { principal, status, single = false, requests } = record
  const { nativeSessionId, announcedSessionId, resumedFrom } = record
  const natives = [nativeSessionId, announcedSessionId, resumedFrom].filter((id) => id !== undefined)
  return { principal, status, asking: requests.length > 0, single, record: JSON.stringify(record), natives }
}

function queuedRow(prompt: AcceptedPrompt): QueuedRow {
  const preview = queuePreview(prompt)
  const whole = isWhole(preview) ? null : JSON.stringify(prompt)
  return { turn: prompt.turn, body: JSON.stringify(preview), whole }
}
