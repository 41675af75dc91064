import type { DatabaseSync } from 'node:sqlite'
import type { TypedPage } from '../log-store/rows.ts'
import { integer, type Row } from '../row.ts'
import { hasAny } from '../row-types.ts'
import type { TypeQuery } from '../store.ts'
import { rowColumns } from './table-rows.ts'

/** Only rows of this condition are in the index, and SQLite uses it only where the condition is repeated. */
const INDEXED = "session = :n AND types IS NOT ''"

/** All values that rows of a session have, one step in the index for each. */
const KINDS = `WITH RECURSIVE kind (types) AS (
    SELECT min(types) FROM log WHERE ${INDEXED}
    UNION ALL SELECT (SELECT min(types) FROM log WHERE ${INDEXED} AND types > kind.types) FROM kind
      WHERE kind.types IS NOT NULL)
  SELECT types FROM kind WHERE types IS NOT NULL`

/** The rows with one value, from the one that has `:from` on. */
const ROWS = `SELECT first, last, octet_length(body) AS bytes FROM log WHERE ${INDEXED} AND types = :types
  AND first >= (SELECT max(first) FROM log WHERE session = :n AND first <= :from) AND first <= :last ORDER BY first`

/** The first row of an older version, whose types are unknown. */
const UNKNOWN = `SELECT min(first) AS first FROM log WHERE ${INDEXED} AND types IS NULL
  AND first >= (SELECT max(first) FROM log WHERE session = :n AND first <= :from)`

const ROW = `SELECT ${rowColumns('log')} FROM log WHERE session = ? AND first = ?`

/** Finds rows by the types of their entries. `n` is the number of the session. */
export function typedRows(db: DatabaseSync, n: number, query: TypeQuery): Omit<TypedPage, 'counters'> {
  const { types, after, last, limit, maxBytes } = query
  const place = { n, from: after + 1 }
  const unknown = db.prepare(UNKNOWN).get(place)?.first
  const end = typeof unknown === 'number' ? Math.max(after, Math.min(last, unknown - 1)) : last
  const kinds = db
    .prepare(KINDS)
    .all({ n })
    .map((row) => String(row.types))
  const lists = kinds
    .filter((kind) => hasAny(kind, types))
    .map((kind) => db.prepare(ROWS).iterate({ ...place, types: kind, last: end }))
  const rowAt = db.prepare(ROW)
  const rows: Row[] = []
  let size = 0
  for (const found of merged(lists)) {
    const first = integer(found, 'first')
    size += integer(found, 'bytes')
    // A large row is read by itself, so that its reader can reserve memory for it.
    if (rows.length === limit || size > maxBytes) return { rows, end: Math.max(after, first - 1) }
    rows.push(rowAt.get(n, first) ?? {})
  }
  return { rows, end }
}

/** The rows of several lists in one order. */
function* merged(lists: readonly Iterator<Row>[]): Generator<Row, void, void> {
  const heads = lists.flatMap((list) => nextOf(list))
  while (heads.length > 0) {
    let least = 0
    for (const [index, { first }] of heads.entries()) if (first < (heads[least]?.first ?? 0)) least = index
    const [head] = heads.splice(least, 1)
    if (!head) return
    yield head.row
    heads.push(...nextOf(head.list))
  }
}

function nextOf(list: Iterator<Row>): { list: Iterator<Row>; row: Row; first: number }[] {
  const { value: row, done } = list.next()
  return done ? [] : [{ list, row, first: integer(row, 'first') }]
}
