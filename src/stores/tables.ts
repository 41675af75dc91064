import { checksum } from './checksum.ts'
import type { Row } from './row.ts'

/** `name` comes from outside and may have any character; `text` is JSON; `flag` is true or false. */
type Type = 'integer' | 'real' | 'name' | 'text' | 'bytes' | 'flag'

export interface Column {
  type: Type
  optional?: true
}

const INTEGER = { type: 'integer' } as const
const REAL = { type: 'real' } as const
const NAME = { type: 'name' } as const
const TEXT = { type: 'text' } as const
const BYTES = { type: 'bytes' } as const
const FLAG = { type: 'flag' } as const
const optional = <C extends Column>(column: C) => ({ ...column, optional: true }) as const

/** A table, by its key and its columns. Every row has `session`, the id of its session, unless `isFree`. */
interface Table {
  key: readonly string[]
  columns: Readonly<Record<string, Column>>
  /** Its rows outlive sessions: `session`, if there is one, is a name like others. */
  isFree?: true
}

/**
 * The tables of a store; the databases have them with these names and columns. Each database adds the numbers by which
 * it finds sessions and orders commits, and checksums. It may keep the columns of a session in several tables.
 */
export const TABLES = {
  session: {
    key: ['session'],
    columns: {
      session: NAME,
      fence: INTEGER,
      owner: optional(NAME),
      head: INTEGER,
      /** When the last entry was made. */
      at: REAL,
      /** The first entry and the first frame that are kept. */
      earliest: INTEGER,
      earliest_frame: INTEGER,
      /** The last frame of the journal. */
      journaled: optional(INTEGER),
      /** How many prompts wait. */
      queued: INTEGER,
      last_frame: optional(INTEGER),
      frames: optional(INTEGER),
      mapped: optional(INTEGER),
      unmapped: optional(INTEGER),
      malformed: optional(INTEGER),
      oversized: optional(INTEGER),
      principal: optional(NAME),
      status: optional(NAME),
      asking: optional(FLAG),
      /** Ends with its first turn. An older version wrote nothing. */
      single: optional(FLAG),
      record: optional(TEXT),
    },
  },
  /** What one commit added to a log: entries as JSON, in the schema version of their time. */
  log: {
    key: ['session', 'first'],
    columns: {
      session: NAME,
      first: INTEGER,
      last: INTEGER,
      at: REAL,
      version: INTEGER,
      body: TEXT,
      /** The types of its entries, without streamed ones. An older version wrote none. */
      types: optional(NAME),
    },
  },
  /** Raw frames that were committed together. `previous` is the last frame of the row before. */
  journal: {
    key: ['session', 'last'],
    columns: {
      session: NAME,
      last: INTEGER,
      encoding: INTEGER,
      previous: optional(INTEGER),
      body: BYTES,
    },
  },
  /** A queued prompt. `whole` is all of it, where `body` is a preview. */
  queued: {
    key: ['session', 'turn'],
    columns: { session: NAME, turn: INTEGER, body: TEXT, whole: optional(TEXT) },
  },
  /** A blob that an entry refers to. */
  blob: {
    key: ['session', 'id'],
    columns: { session: NAME, id: NAME },
  },
  /** An idempotency key. */
  receipt: {
    key: ['id'],
    columns: { id: TEXT, session: NAME, at: REAL, body: TEXT },
    isFree: true,
  },
  /** The principal of a native conversation. */
  native: {
    key: ['id', 'principal'],
    columns: { id: NAME, principal: NAME },
    isFree: true,
  },
  /** The usage of a principal on a day. */
  spent: {
    key: ['principal', 'agent', 'model', 'day'],
    columns: {
      principal: NAME,
      agent: NAME,
      model: NAME,
      day: TEXT,
      sessions: INTEGER,
      turns: INTEGER,
      input: optional(REAL),
      output: optional(REAL),
      cacheRead: optional(REAL),
      cacheWrite: optional(REAL),
      reasoning: optional(REAL),
      total: optional(REAL),
      costUsd: optional(REAL),
      partial: optional(INTEGER),
    },
    isFree: true,
  },
  /** A token by its name; a removed one keeps its row. */
  token: {
    key: ['name'],
    columns: {
      name: NAME,
      digest: NAME,
      roles: NAME,
      at: REAL,
      added_by: NAME,
      removed: optional(REAL),
      /** Of the token of a command line: its principal, what it calls itself, and the digest of what allowed it. */
      principal: optional(NAME),
      login: optional(NAME),
      allowed_by: optional(NAME),
    },
    isFree: true,
  },
  /** A principal that may read and answer the sessions of another. */
  permit: {
    key: ['grantee', 'principal'],
    columns: { grantee: NAME, principal: NAME, at: REAL, added_by: NAME },
    isFree: true,
  },
  /** Whom to call, and for what. Types and sessions are separated by spaces, with one at each end. */
  webhook: {
    key: ['id'],
    columns: {
      id: NAME,
      principal: NAME,
      kind: NAME,
      at: REAL,
      events: NAME,
      sessions: optional(NAME),
      disabled: optional(REAL),
      /** Where it is, and its secrets. */
      body: TEXT,
    },
    isFree: true,
  },
  /** A call of a webhook. Its id is the session and the seq of the entry, and `principal` the owner of the session. */
  delivery: {
    key: ['webhook', 'id'],
    columns: {
      webhook: NAME,
      id: NAME,
      session: NAME,
      principal: NAME,
      type: NAME,
      at: REAL,
      status: NAME,
      attempts: INTEGER,
      changed: REAL,
      due: optional(REAL),
      note: optional(NAME),
    },
    isFree: true,
  },
  /** Who did what. */
  audit: {
    key: ['id'],
    columns: {
      id: TEXT,
      at: REAL,
      principal: NAME,
      action: NAME,
      session: optional(NAME),
      body: TEXT,
    },
    isFree: true,
  },
} as const satisfies Readonly<Record<string, Table>>

export type TableName = keyof typeof TABLES

/** What a row of each table is called in messages. */
export const NAMES: Readonly<Record<TableName, string>> = {
  session: 'the record',
  log: 'the log',
  journal: 'the raw frames',
  queued: 'a queued prompt',
  blob: 'a blob',
  receipt: 'an idempotency key',
  native: 'the list of native conversations',
  spent: 'the daily usage',
  token: 'a token',
  permit: 'a grant',
  webhook: 'a webhook',
  delivery: 'a call of a webhook',
  audit: 'the audit trail',
}

type Value<C extends Column> = C['type'] extends 'name' | 'text'
  ? string
  : C['type'] extends 'bytes'
    ? Uint8Array
    : C['type'] extends 'flag'
      ? boolean
      : number

type Columns<T extends TableName> = (typeof TABLES)[T]['columns']

/** A row of a table, the same in every database. */
export type TableRow<T extends TableName> = {
  -readonly [C in keyof Columns<T>]: Columns<T>[C] extends Column
    ? Value<Columns<T>[C]> | (Columns<T>[C] extends { optional: true } ? null : never)
    : never
}

/** A checksum of a row, and the columns that it covers. */
export interface Sum {
  /** What is damaged where it does not match. */
  what: string
  /** Columns added later are optional and come after those of their type: without them, the sum stays as it was. */
  of: readonly string[]
  /** The row has no such part where this column is empty. */
  part?: string
  /** The database computes the sum, because it computes the columns; a query has its result in `of`. */
  isComputed?: true
}

/** The columns of a session that are its record, in the order of its checksum. */
export const RECORD_COLUMNS = ['asking', 'single', 'principal', 'status', 'record'] as const

export const recordSum = (...identity: readonly string[]) =>
  ({ what: 'the record', of: [...identity, ...RECORD_COLUMNS], part: 'record' }) as const

/** The last three are those of logins. */
const TOKEN_COLUMNS = [
  ...['at', 'removed', 'name', 'digest', 'roles', 'added_by'],
  ...['principal', 'login', 'allowed_by'],
]

const WEBHOOK_COLUMNS = ['at', 'disabled', 'id', 'principal', 'kind', 'events', 'sessions', 'body']

/** What changes of a call while it is tried. */
export const deliveryStateSum = {
  what: 'a call of a webhook',
  of: ['attempts', 'changed', 'due', 'status', 'note'],
} as const

/** `identity` is what a row contributes of its session, so that no row can stand for one of another session. */
export const sumsBy = (identity: 'n' | 'session') => ({
  log: { sum: { what: 'the log', of: [identity, 'first', 'last', 'version', 'body'] } },
  journal: {
    sum: { what: 'the raw frames', of: [identity, 'last', 'encoding', 'previous', 'body'] },
  },
  queued: {
    sum: { what: 'a queued prompt', of: [identity, 'turn', 'body'] },
    whole_sum: { what: 'a queued prompt', of: [identity, 'turn', 'whole'], part: 'whole' },
  },
  native: {},
  spent: {},
  token: { sum: { what: 'a token', of: TOKEN_COLUMNS } },
  permit: { sum: { what: 'a grant', of: ['at', 'grantee', 'principal', 'added_by'] } },
  webhook: { sum: { what: 'a webhook', of: WEBHOOK_COLUMNS } },
})

/** What has to be read of a row to compare it with a checksum, besides its session. */
export const coveredBy = ({ of }: Sum) => of.filter((name) => name !== 'n' && name !== 'session')

/** The checksums of each table by their columns, as one database has them. */
export type Sums = Readonly<Record<TableName, SumsOfRow>>
type SumsOfRow = Readonly<Record<string, Sum>>

/** The checksum of these columns: of numbers first, then of texts. */
export function sumOf({ of }: Sum, row: Row): number {
  const numbers: number[] = []
  const bodies: (string | Uint8Array)[] = []
  for (const column of of) {
    const value = row[column]
    if (typeof value === 'number') numbers.push(value)
    else if (typeof value === 'boolean') numbers.push(Number(value))
    else if (typeof value === 'string' || value instanceof Uint8Array) bodies.push(value)
  }
  return checksum(numbers, ...bodies)
}

/** Whether a row matches one of its checksums; rows of older versions have none. */
export function checkOf(
  sums: SumsOfRow,
  column: string,
  row: Row,
): 'intact' | 'damaged' | 'unchecked' | 'absent' {
  const sum = sums[column]
  const stored = row[column] ?? null
  if (!sum) return 'absent'
  const isAbsent = sum.part !== undefined && (row[sum.part] ?? null) === null
  if (stored === null) return isAbsent ? 'absent' : 'unchecked'
  const expected = sum.isComputed ? row[sum.of[0] ?? ''] : sumOf(sum, row)
  return !isAbsent && stored === expected ? 'intact' : 'damaged'
}

/** The part of a row that does not match its checksum, if any. */
export function damagedPart(sums: SumsOfRow, row: Row): string | undefined {
  const column = Object.keys(sums).find((name) => checkOf(sums, name, row) === 'damaged')
  return column === undefined ? undefined : sums[column]?.what
}

/** The columns of a table, each with its name. */
export function columnsOf(table: TableName): [name: string, column: Column][] {
  const columns: Readonly<Record<string, Column>> = TABLES[table].columns
  return Object.entries(columns)
}

/** Whether rows of a table outlive their sessions. */
export const isFree = (table: TableName) => 'isFree' in TABLES[table]
