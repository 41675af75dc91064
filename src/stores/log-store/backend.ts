/// <reference lib="esnext.disposable" preserve="true" />

import type { AuditFact } from '../../model/access.ts'
import type { BlobRef, BlobSink } from '../../model/index.ts'
import type { ByteRange } from '../../model/text/byte-range.ts'
import type { AccessStore } from '../access.ts'
import type { CallRows } from '../calls/call-rows.ts'
import type { NodeStore } from '../nodes.ts'
import type { Row } from '../row.ts'
import type { SearchLag, TextMatches, TextQuery, TrimPoint } from '../store.ts'
import type { CommitRun } from './commit-run.ts'
import type { LogReads } from './log-reads.ts'
import type { RowSource } from './rows.ts'
import type { Tails } from './tails.ts'

/** The state of a session after a commit, as this process knows it. A backend may know more. */
export interface SessionPlace {
  fence: number
  head: number
}

/**
 * A database, for `LogStore`: it reads and writes rows. Work on one session is asked for one at a time and in order, and
 * at most `lanes` writes at a time.
 */
export interface Backend<P extends SessionPlace> extends AsyncDisposable {
  readonly rows: RowSource
  readonly lanes: number
  /** Whether frames are encoded before they wait for the database, which keeps less of them in memory. */
  readonly encodesFrames: boolean
  readonly nodes?: NodeStore
  readonly access: AccessStore
  readonly calls: CallRows
  readonly blobs: BlobSink
  readBlob(ref: BlobRef, range?: ByteRange): AsyncIterable<Uint8Array>
  /** The time in which the age of keys is measured. */
  now(): number

  /**
   * Commits runs in one transaction. Returns the sessions whose runs were accepted: fence, head and keys are as the run
   * expects. A refused run leaves nothing behind. Sets `inDoubt` of runs that may be stored although they are refused.
   */
  commit(runs: readonly CommitRun<P>[]): Promise<ReadonlySet<string>>
  /** The place in the counters of a session. */
  placeIn(counters: Row): P
  /** The place of a session after a run was committed. */
  placeAfter(run: CommitRun<P>): P
  /** Whether a run in doubt is stored, by the place that was read after it. */
  isApplied(run: CommitRun<P>, place: P): boolean
  /** Whether only this process can have written to a session since it was at this place. */
  isOwn(place: P): boolean
  /** Call after each commit, when its entries can be read. */
  committed(session: string): void
  /** Reports commits of other servers to the tails. */
  follow?(tails: Tails): void

  acquire(session: string, owner: string, ttlMs: number): Promise<P>
  renew(owner: string, ttlMs: number): Promise<void>
  release(owner: string): Promise<void>
  trim(session: string, point: TrimPoint, fence: number): Promise<void>
  delete(session: string, fence: number, fact: AuditFact | undefined): Promise<void>
  forgetReceipts(ms: number): Promise<void>
  search(query: TextQuery, logs: LogReads): Promise<TextMatches>
  searchLag(): Promise<SearchLag>
  /** Fails if a commit would. Tries one only if `writes`. */
  probe(writes: boolean): Promise<void>
}
