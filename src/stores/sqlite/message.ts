import type { ErrorCode } from '../../model/index.ts'
import type { SessionPlace } from '../log-store/backend.ts'
import type { CommitRun } from '../log-store/commit-run.ts'
import type { QueuedRow, RecordRow } from '../log-store/prepared-batch.ts'
import type { Row } from '../row.ts'
import { type Charge, FIRST_FENCE, NO_FENCE, type TrimPoint } from '../store.ts'
import type { TableRow } from '../tables.ts'
import type { BlobFiles } from './blobs.ts'

/** `power`: acknowledged entries survive a power loss. `process`: they survive the end of this process. */
export type Durability = 'power' | 'process'

export interface WriterSettings {
  directory: string
  durability: Durability
  /** The maximum size of the database. */
  maxBytes: number | undefined
  /** The schema version of new entries. */
  entryVersion: number
}

/** The numbers of a row of frame counts: session, last frame, then the coverage. */
export const FRAME_COUNT_NUMBERS = 7

export interface SessionRow {
  n: number
  id: string
}

/** A session without a row, with its initial lease if any. */
export interface NewSessionRow extends SessionRow {
  fence: number
  owner: string | undefined
}

export interface LeaseRow {
  n: number
  fence: number
  owner: string | undefined
}

/** A row of a batch, and the number of its session. */
type Numbered<T> = T & { n: number }

export interface DequeuedRow {
  n: number
  turn: number
}

/** A blob belongs to the first session that refers to it. */
export interface BlobRow {
  id: string
  n: number
  /** The checksum of the bytes; unknown if another process wrote the blob. */
  content: number | undefined
}

/** One transaction, with the batches of any number of sessions. */
export interface Commit {
  kind: 'commit'
  /** Sessions without a row. */
  sessions: NewSessionRow[]
  leases: LeaseRow[]
  /** Rows with the number of their session. */
  log: PackedRows
  /** The frames of a batch as one text, with the number of the session and the last frame. */
  journal: PackedRows
  frameCounts: number[]
  records: Numbered<RecordRow & { session: string }>[]
  dequeued: DequeuedRow[]
  queued: Numbered<QueuedRow>[]
  receipts: TableRow<'receipt'>[]
  blobs: BlobRow[]
  charges: Charge[]
  facts: TableRow<'audit'>[]
}

export interface Delete {
  kind: 'delete'
  n: number
  id: string
  fact: TableRow<'audit'> | undefined
}

export interface Trim extends TrimPoint {
  kind: 'trim'
  n: number
}

/** Keys that were used before this time. */
export interface Forget {
  kind: 'forget'
  before: number
}

/** A write that is its own transaction, to keep the order. */
export type Removal = Delete | Trim | Forget

/** Changes of tokens, grants and the audit trail, in one transaction. */
export interface AccessWrite {
  kind: 'access'
  /** Replaces the token of this name. */
  token?: Row
  permit?: TableRow<'permit'>
  withdrawn?: Pick<TableRow<'permit'>, 'grantee' | 'principal'>
  fact?: TableRow<'audit'>
  forgetBefore?: number
}

/** Whether a commit could succeed. */
export interface Probe {
  kind: 'probe'
  writes: boolean
}

export interface Close {
  kind: 'close'
}

export type ToWriter = Commit | Removal | AccessWrite | Probe | Close

/** The reply to the start and to every message; undefined on success. */
export type FromWriter =
  | { code: ErrorCode; message: string; details: Record<string, unknown> | undefined }
  | undefined

/** Rows for another thread: posting a list for each column is cheaper than an object for each row. */
export type PackedRows = Record<string, unknown[]>

/** All rows of a list have the same columns. */
export function addRow(list: PackedRows, row: Row): void {
  for (const [column, value] of Object.entries(row)) {
    const values = list[column]
    if (values) values.push(value)
    else list[column] = [value]
  }
}

export function* rowsIn(list: PackedRows): Generator<Row> {
  const columns = Object.entries(list)
  const count = columns[0]?.[1].length ?? 0
  for (let at = 0; at < count; at++) {
    const row: Record<string, unknown> = {}
    for (const [column, values] of columns) row[column] = values[at]
    yield row
  }
}

export function emptyCommit(): Commit {
  return {
    kind: 'commit',
    sessions: [],
    leases: [],
    log: {},
    journal: {},
    frameCounts: [],
    records: [],
    dequeued: [],
    queued: [],
    receipts: [],
    blobs: [],
    charges: [],
    facts: [],
  }
}

/** Adds the rows of a run of session `n`. */
export function addRun(commit: Commit, n: number, run: CommitRun<SessionPlace>, blobs: BlobFiles): void {
  const { session } = run
  const lease = leaseOf(run)
  if (!run.place) commit.sessions.push({ n, id: session, fence: NO_FENCE, owner: undefined, ...lease })
  else if (lease) commit.leases.push({ n, ...lease })
  for (const batch of run.batches) {
    const { log, queued, frames } = batch
    // The message takes its rows with it, so that they are not in memory twice.
    Object.assign(batch, { log: [], queued: [], frames: undefined })
    for (const row of log) addRow(commit.log, { ...row, n })
    if (frames) addRow(commit.journal, { ...frames, n })
    for (const row of queued) commit.queued.push({ ...row, n })
    if (batch.record) commit.records.push({ ...batch.record, n, session })
    for (const turn of batch.dequeued) commit.dequeued.push({ n, turn })
    if (batch.frameCounts) {
      const { frames, coverage } = batch.frameCounts
      const { mapped, unmapped, malformed, oversized } = coverage
      commit.frameCounts.push(n, frames, coverage.frames, mapped, unmapped, malformed, oversized)
    }
    commit.receipts.push(...batch.receipts)
    commit.charges.push(...batch.charges)
    for (const fact of batch.facts) commit.facts.push({ ...fact, at: Date.now() })
    for (const id of batch.blobs) commit.blobs.push({ id, n, content: blobs.takeSum(id) })
  }
}

/** The lease after a run, if the run changes it. */
function leaseOf({ terms, releases, fence }: CommitRun<SessionPlace>): Omit<LeaseRow, 'n'> | undefined {
  const owner = releases ? undefined : terms?.owner
  if (terms) return { fence: FIRST_FENCE, owner }
  return releases ? { fence, owner } : undefined
}
