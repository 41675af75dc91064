import type { RowChange } from '../access-rows.ts'
import type { OldDeliveries } from '../calls.ts'
import type { SessionPlace } from '../log-store/backend.ts'
import type { CommitRun } from '../log-store/commit-run.ts'
import type { Row } from '../row.ts'
import type { TrimPoint } from '../store.ts'
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

/** One transaction, with the batches of any number of sessions. `n` of a row is the number of its session. */
export interface Commit {
  kind: 'commit'
  /** Sessions without a row. */
  sessions: Row[]
  leases: Row[]
  log: PackedRows
  /** The frames of a batch as one text, with the last frame. */
  journal: PackedRows
  frameCounts: PackedRows
  records: Row[]
  queued: Row[]
  dequeued: { n: number; turn: number }[]
  /** A blob belongs to the first session that refers to it. Its checksum is unknown if another process wrote it. */
  blobs: Row[]
  receipts: Row[]
  charges: Row[]
  facts: Row[]
  calls: Row[]
}

/** A token or a grant after a change. */
export type ChangedRow = Pick<RowChange, 'table' | 'key'> & { row: Row | 'removed' }

/** A write that is its own transaction, to keep the order. */
export type StoreChange =
  | { kind: 'delete'; n: number; session: string; fact: Row | undefined }
  | ({ kind: 'trim'; n: number } & TrimPoint)
  /** Rows of before this time. */
  | { kind: 'forget'; table: 'receipt' | 'audit'; before: number }
  /** A change of tokens or grants, if any, and its fact. */
  | { kind: 'access'; change?: ChangedRow; fact: Row }
  /** Calls of webhooks after a change. */
  | { kind: 'calls'; rows: readonly Row[] }
  | ({ kind: 'forget calls' } & OldDeliveries)

/** `probe`: whether a commit could succeed. */
export type ToWriter = Commit | StoreChange | { kind: 'probe'; writes: boolean } | { kind: 'close' }

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
    ...{ kind: 'commit', log: {}, journal: {}, frameCounts: {} },
    ...{ sessions: [], leases: [], records: [], queued: [], dequeued: [], blobs: [] },
    ...{ receipts: [], charges: [], facts: [], calls: [] },
  }
}

/** Adds the rows of a run of session `n`. */
export function addRun(commit: Commit, n: number, run: CommitRun<SessionPlace>, blobs: BlobFiles): void {
  const { session, terms, releases, place, fenceAfter: fence } = run
  const lease = { n, fence, owner: releases ? null : (terms?.owner ?? null) }
  if (!place) commit.sessions.push({ session, earliest: 1, earliest_frame: 1, queued: 0, ...lease })
  else if (releases) commit.leases.push(lease)
  for (const batch of run.batches) {
    const { log, queued, frames } = batch
    // The message takes its rows with it, so that they are not in memory twice.
    Object.assign(batch, { log: [], queued: [], frames: undefined })
    for (const row of log) addRow(commit.log, { ...row, n })
    if (frames) addRow(commit.journal, { ...frames, n })
    for (const row of queued) commit.queued.push({ ...row, n })
    if (batch.record) commit.records.push({ ...batch.record, n, session })
    for (const turn of batch.dequeued) commit.dequeued.push({ n, turn })
    if (batch.frameCounts)
      addRow(commit.frameCounts, { n, last_frame: batch.frameCounts.frames, ...batch.frameCounts.coverage })
    commit.receipts.push(...batch.receipts)
    commit.charges.push(...batch.charges)
    for (const fact of batch.facts) commit.facts.push({ ...fact, at: Date.now() })
    commit.calls.push(...batch.calls)
    for (const id of batch.blobs) commit.blobs.push({ id, n, content: blobs.takeSum(id) })
  }
}
