import type { Entry } from '../../model/index.ts'
import { type AcceptedPrompt, isWhole, queuePreview } from '../../model/queue-preview.ts'
import { blobOf } from '../blob-of.ts'
import { joinFrames } from '../journal-body.ts'
import { type LogRow, toRows, toTexts } from '../log-rows.ts'
import { receiptId } from '../receipt-id.ts'
import {
  type Batch,
  type Charge,
  type FrameCounts,
  NO_FENCE,
  type Receipt,
  type StoredState,
} from '../store.ts'
import type { Batched } from './committer.ts'
import type { BlobRow, Commit, LeaseRow, QueueRow, ReceiptRow, RecordRow, SessionRow } from './message.ts'
import { addText } from './texts.ts'

/** The time, the checksums of new blobs, and the lease if it changes. */
interface Surroundings {
  now: number
  contentOf(blob: string): number | undefined
  lease: Omit<LeaseRow, 'n'> | undefined
}

/** A serialised batch. A value that cannot be serialised fails here, without affecting other batches. */
export class PreparedBatch implements Batched {
  readonly kind = 'batch'
  readonly chars: number
  readonly entries: readonly Entry[]
  readonly texts: readonly string[]
  readonly #session: SessionRow
  readonly #isNew: boolean
  readonly #lease: Omit<LeaseRow, 'n'> | undefined
  #rows: readonly LogRow[]
  #journal: { last: number; text: string } | undefined
  readonly #record: RecordRow | undefined
  readonly #dequeued: readonly number[]
  #queued: readonly QueueRow[]
  readonly #frameCounts: FrameCounts | undefined
  readonly #receipts: readonly ReceiptRow[]
  readonly #charges: readonly Charge[]
  readonly #blobs: readonly BlobRow[]

  constructor(session: SessionRow, isNew: boolean, batch: Batch, { now, contentOf, lease }: Surroundings) {
    const { entries, journal = [], record, queued = [], dequeued = [], receipts = [], charges = [] } = batch
    this.entries = entries
    this.#session = session
    this.#isNew = isNew
    this.#lease = lease
    this.texts = toTexts(entries)
    this.#rows = toRows(entries, this.texts)
    const lastFrame = journal.at(-1)
    this.#journal = lastFrame && { last: lastFrame.frame, text: joinFrames(journal) }
    this.#record = record && recordRow(session, record)
    this.#queued = queued.map((prompt) => queueRow(session.n, prompt))
    this.#dequeued = dequeued
    this.#frameCounts = batch.frameCounts
    this.#receipts = receipts.map((receipt) => receiptRow(receipt, now))
    this.#charges = charges
    this.#blobs = entries.flatMap(({ event }) => {
      const blob = blobOf(event)
      return blob ? [{ id: blob.id, n: session.n, content: contentOf(blob.id) }] : []
    })
    this.chars =
      charsIn(this.#rows) +
      charsIn(this.#queued) +
      wholeChars(this.#queued) +
      (this.#journal?.text.length ?? 0)
  }

  /** Call once: hands the rows over, so that they are not in memory twice. */
  addTo(commit: Commit): void {
    const { n } = this.#session
    if (this.#isNew)
      commit.sessions.push({ ...this.#session, fence: NO_FENCE, owner: undefined, ...this.#lease })
    else if (this.#lease) commit.leases.push({ n, ...this.#lease })
    for (const { first, last, at, text } of this.#rows) addText(commit.log, text, n, first, last, at)
    if (this.#journal) addText(commit.journal, this.#journal.text, n, this.#journal.last)
    commit.queued.push(...this.#queued)
    this.#rows = []
    this.#queued = []
    this.#journal = undefined
    if (this.#record) commit.records.push(this.#record)
    for (const turn of this.#dequeued) commit.dequeued.push({ n, turn })
    if (this.#frameCounts) commit.frameCounts.push(n, ...frameCountNumbers(this.#frameCounts))
    commit.receipts.push(...this.#receipts)
    commit.charges.push(...this.#charges)
    commit.blobs.push(...this.#blobs)
  }
}

function wholeChars(rows: readonly QueueRow[]): number {
  return rows.reduce((sum, { whole = '' }) => sum + whole.length, 0)
}

function charsIn(rows: readonly { text: string }[]): number {
  return rows.reduce((sum, { text }) => sum + text.length, 0)
}

function queueRow(n: number, prompt: AcceptedPrompt): QueueRow {
  const preview = queuePreview(prompt)
  const whole = isWhole(preview) ? undefined : JSON.stringify(prompt)
  return { n, turn: prompt.turn, text: JSON.stringify(preview), whole }
}

function receiptRow(receipt: Receipt, at: number): ReceiptRow {
  const { scope, key, session } = receipt
  return { id: receiptId(scope, key), session, at, text: JSON.stringify(receipt) }
}

function frameCountNumbers({ frames, coverage }: FrameCounts): number[] {
  const { mapped, unmapped, malformed, oversized } = coverage
  return [frames, coverage.frames, mapped, unmapped, malformed, oversized]
}

function recordRow(session: SessionRow, record: StoredState): RecordRow {
  const { principal, status, requests } = record
  return { ...session, principal, status, asking: requests.length > 0, text: JSON.stringify(record) }
}
