import { damaged } from '../damaged.ts'
import type { Row } from '../row.ts'

/** Everything in a row of `session` that is read, in the order of the checksum. */
const COVERED = [
  'id',
  'fence',
  'owner',
  'writes',
  'inherited',
  'head',
  'at',
  'earliest',
  'earliest_frame',
  'journaled',
  'queued',
  'recorded',
  'last_frame',
  'frames',
  'mapped',
  'unmapped',
  'malformed',
  'oversized',
] as const

type Covered = (typeof COVERED)[number]

/** A checksum of values that the database itself computes. The text of a row does not depend on settings. */
export function rowSum(values: readonly string[]): string {
  return `('x' || left(encode(sha256(convert_to(ROW(${values.join(', ')})::text, 'UTF8')), 'hex'), 8))::bit(32)::bigint`
}

/** Without the setting `extra_float_digits`, on which the text of a number depends. */
export const exact = (number: string) => `(${number})::numeric`

/** The checksum of a session: of its row, with these columns changed. */
export function sessionSum(row: string, changed: Partial<Record<Covered, string>> = {}): string {
  const values = COVERED.map((column) => {
    const value = changed[column] ?? `${row}.${column}`
    return column === 'at' ? exact(value) : value
  })
  return rowSum(values)
}

/** Whether the row of a session matches its checksum. A row of an older version has none. */
export const isIntact = (row: string) => `(${row}.sum IS NULL OR ${row}.sum = ${sessionSum(row)})`

/** Throws if a row was read with `isIntact` as `intact`, and is not. */
export function checkSession(session: string, { intact }: Row): void {
  if (intact !== true) throw damaged(COUNTERS, { session })
}

/** What is damaged where the checksum of a session does not match. */
export const COUNTERS = 'the counters'
