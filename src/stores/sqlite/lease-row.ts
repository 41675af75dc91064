import { checksum, matches } from '../checksum.ts'
import { damaged } from '../damaged.ts'
import { integer, type Row, text } from '../row.ts'
import { type Batch, FIRST_FENCE, type LeaseTerms } from '../store.ts'
import type { LeaseRow } from './message.ts'

export function leaseSum({ n, fence, owner }: LeaseRow): number {
  return checksum([n, fence], owner ?? '')
}

export function textOrNone(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The lease in a row of `session`. */
export function leaseIn(row: Row): LeaseRow {
  const lease = { n: integer(row, 'n'), fence: integer(row, 'fence'), owner: textOrNone(row.owner) }
  if (matches(row.leaseSum, () => leaseSum(lease))) return lease
  throw damaged('the lease', { session: text(row, 'id') })
}

/** The lease after this batch, if the batch changes it. */
export function leaseFrom(
  { fence }: Pick<LeaseRow, 'fence'>,
  { release }: Batch,
  terms: LeaseTerms | undefined,
): Pick<LeaseRow, 'fence' | 'owner'> | undefined {
  if (terms) return { fence: fence + FIRST_FENCE, owner: terms.owner }
  return release ? { fence, owner: undefined } : undefined
}
