/// <reference lib="esnext.disposable" preserve="true" />
import type { FrameCounts } from '../store.ts'

/** A session without its log. Its lease is not copied, but its fence is: a fence must never become smaller. */
export interface CopiedSession {
  id: string
  fence: number
  head: number
  /** When the last entry was made. */
  at: number
  /** The first entry and the first frame that are kept. */
  earliest: number
  earliestFrame: number
  frameCounts?: FrameCounts
  record?: { principal: string; status: string; asking: boolean; text: string }
}

/** What one commit added to a log. `text` is stored unchanged, in the schema version of its entries. */
export interface CopiedCommit {
  session: string
  first: number
  last: number
  at: number
  version: number
  text: string
}

/** Raw frames that were committed together, encoded as they are stored. */
export interface CopiedFrames {
  session: string
  last: number
  encoding: number
  body: Uint8Array
}

export interface CopiedPrompt {
  session: string
  turn: number
  text: string
  /** The complete prompt, where `text` is a preview. */
  whole?: string
}

/** A blob that an entry of the session refers to. Its content is copied before its row. */
export interface CopiedBlob {
  session: string
  id: string
}

/** An idempotency key. Outlives its session, so it does not refer to a copied one. */
export interface CopiedReceipt {
  id: string
  session: string
  at: number
  text: string
}

/** The principal of a native conversation. */
export interface CopiedNative {
  id: string
  principal: string
}

/** A row of daily usage: principal, agent, model, day, sessions, turns, and the counts. */
export interface CopiedUsage {
  values: readonly (string | number | null)[]
}

/** The rows of each part of a store. */
export interface CopyRows {
  sessions: CopiedSession
  log: CopiedCommit
  journal: CopiedFrames
  queued: CopiedPrompt
  blobs: CopiedBlob
  receipts: CopiedReceipt
  natives: CopiedNative
  usage: CopiedUsage
}

export type Part = keyof CopyRows

/** The columns that identify a row of each part. */
export interface CopyKeys {
  sessions: Pick<CopiedSession, 'id'>
  log: Pick<CopiedCommit, 'session' | 'first'>
  journal: Pick<CopiedFrames, 'session' | 'last'>
  queued: Pick<CopiedPrompt, 'session' | 'turn'>
  blobs: CopiedBlob
  receipts: Pick<CopiedReceipt, 'id'>
  natives: CopiedNative
  usage: CopiedUsage
}

/**
 * The parts in the order in which they are copied: rows that name a session follow the sessions.
 *
 * Rows of a part are read in the same order from every store: sessions from the oldest to the newest, the log in the
 * order of commits, receipts by id, and all others by session. `natives` and `usage` have no common order, because stores
 * encode names differently.
 */
export const PARTS = [
  'sessions',
  'log',
  'journal',
  'queued',
  'blobs',
  'receipts',
  'natives',
  'usage',
] as const

/** Reads the rows of one part. */
export interface PartReader<Row, Key> {
  /** Rows after this one, in pages of a limited size. Throws if a row does not match its checksum. */
  read(after?: Key): AsyncIterable<readonly Row[]>
}

/** Writes the rows of one part. */
export interface PartWriter<Row, Key> extends PartReader<Row, Key> {
  /** The last row, where an interrupted copy continues; undefined for a part that has to be copied from its start. */
  last(): Promise<Key | undefined>
  /** Adds a page in one transaction. A row that exists already is not added again. */
  add(rows: readonly Row[]): Promise<void>
}

export type PartReaders = { readonly [P in Part]: PartReader<CopyRows[P], CopyKeys[P]> }
export type PartWriters = { readonly [P in Part]: PartWriter<CopyRows[P], CopyKeys[P]> }

export interface CopyTotals {
  sessions: number
  entries: number
}

/** A store that no server has open, to be copied. */
export interface CopySource extends AsyncDisposable {
  /** Names the store in messages and in the mark of a copy. Has no password. */
  readonly name: string
  readonly parts: PartReaders
  totals(): Promise<CopyTotals>
  /** Reads a blob in pieces, after its checksum was compared. */
  readBlob(id: string): AsyncIterable<Uint8Array>
  /** How long processes had the store open, in milliseconds: the time in which the age of receipts is measured. */
  openTime(): Promise<number>
  /** Throws if a server has the store open. */
  checkIdle(): Promise<void>
  /** Throws if entries are missing in a log. */
  checkComplete(): Promise<void>
}

export interface TargetState {
  /** The source of an unfinished copy. */
  unfinished?: string
  /** The source of a finished copy. */
  finished?: string
  /** Whether the store has anything that a copy would have to keep. */
  isEmpty: boolean
}

/** A store that receives a copy. Servers refuse to open it from `begin` to `finish`. */
export interface CopyTarget extends CopySource {
  readonly parts: PartWriters
  state(): Promise<TargetState>
  /** Marks the store as an unfinished copy of this source. */
  begin(source: string): Promise<void>
  writeBlob(id: string, content: AsyncIterable<Uint8Array>): Promise<void>
  /** Call after the last row. Continues the age of receipts at this time, and updates statistics for readers. */
  complete(openTime: number): Promise<void>
  /** Removes everything that an unfinished copy has written; the mark stays. */
  clear(): Promise<void>
  /** Replaces the mark of an unfinished copy by that of a finished one. */
  finish(source: string): Promise<void>
}
