import type { StatementSync } from 'node:sqlite'
import { firstDamaged, headsOf } from '../checksum.ts'
import { damaged } from '../damaged.ts'
import { BETWEEN } from '../log-rows.ts'
import { bytes, integer, type Row, text } from '../row.ts'

const SESSION = '(SELECT n FROM session WHERE id = :id)'

const ROWS = `FROM log WHERE session = ${SESSION} AND first <= :to
  AND first >= (SELECT max(first) FROM log WHERE session = ${SESSION} AND first <= :from)`

/** Reads many small rows as one text, because the cost per row exceeds that of its content. */
export const SEGMENT = `SELECT ${SESSION} AS n, (SELECT head FROM tail WHERE session = ${SESSION}) AS head,
  min(first) AS first, max(last) AS last, min(version) AS oldest, max(version) AS newest,
  ${headsOf('last')}, CAST(group_concat(body, '${BETWEEN}') AS BLOB) AS body
  FROM (SELECT first, last, version, sum, body ${ROWS} AND version BETWEEN :oldest AND :newest ORDER BY first)`

/** Computed from the headers of the rows, without reading text. */
export const SIZE = `SELECT coalesce(sum(octet_length(body)), 0) AS bytes ${ROWS}`

const ANY_VERSION = 1_000_000

export interface Range {
  id: string
  from: number
  to: number
}

/** Consecutive entries of one schema version, as stored. */
export interface Segment {
  first: number
  last: number
  version: number
  text: string
}

/** Halves the range until it fits the limit, but keeps at least the first row. */
export function bounded(
  size: StatementSync,
  range: Range,
  maxBytes: number,
): { range: Range; bytes: number } {
  const { from } = range
  let { to } = range
  for (;;) {
    const bytes = integer(size.get({ ...range, to }) ?? {}, 'bytes')
    if (bytes <= maxBytes || to <= from) return { range: { ...range, to }, bytes }
    to = from + Math.floor((to - from) / 2)
  }
}

/** One segment per schema version, oldest first. Throws if a row is damaged or missing. */
export function segmentsIn(segment: StatementSync, range: Range): { segments: Segment[]; head: number } {
  const found = rowsIn(segment, range, 0, ANY_VERSION)
  const segments = found.rows.map((row) => checkedSegment(range.id, row))
  checkComplete(range, segments, found.head)
  return { segments, head: found.head }
}

function rowsIn(
  segment: StatementSync,
  range: Range,
  oldest: number,
  newest: number,
): { rows: Row[]; head: number } {
  const row = segment.get({ ...range, oldest, newest })
  // Logs of older versions have no `tail` row.
  const head = typeof row?.head === 'number' ? row.head : 0
  if (!row || row.first === null) return { rows: [], head }
  const [low, high] = [integer(row, 'oldest'), integer(row, 'newest')]
  if (low === high) return { rows: [row], head }
  const versions = Array.from({ length: high - low + 1 }, (_, index) => low + index)
  return { rows: versions.flatMap((version) => rowsIn(segment, range, version, version).rows), head }
}

function checkedSegment(session: string, row: Row): Segment {
  const [n, first, last] = [integer(row, 'n'), integer(row, 'first'), integer(row, 'last')]
  const version = integer(row, 'newest')
  const body = bytes(row, 'body')
  // A row starts where the previous one ends, so a missing row makes the next one fail its check.
  const wrong = firstDamaged(body, text(row, 'heads'), BETWEEN.length, (to, before) => [
    n,
    before === undefined ? first : before + 1,
    to,
    version,
  ])
  if (wrong) {
    const { number, before } = wrong
    throw damaged('the log', { session, first: before === undefined ? first : before + 1, last: number })
  }
  const { buffer, byteOffset, length } = body
  return { first, last, version, text: Buffer.from(buffer, byteOffset, length).toString() }
}

/** Throws if entries are missing between the segments or at the end of the log. */
function checkComplete({ id: session, from, to }: Range, segments: readonly Segment[], head: number): void {
  const [start] = segments
  if (!start) return
  let expected = start.first
  for (const { first, last } of segments) {
    if (first !== expected) throw damaged('the log', { session, first: expected, last: first - 1 })
    expected = last + 1
  }
  const end = Math.min(to, head)
  if (expected <= end && from <= end) {
    throw damaged('the log', { session, first: expected, last: end })
  }
}
