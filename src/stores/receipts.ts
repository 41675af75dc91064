import { type Row, text } from './row.ts'
import type { Receipt } from './store.ts'
import { damagedPart, type Sums, sumOf, type TableRow } from './tables.ts'

export function receiptRow(receipt: Receipt, at: number): TableRow<'receipt'> {
  const { scope, key, session } = receipt
  return { id: receiptId(scope, key), session, at, body: JSON.stringify(receipt) }
}

/** A receipt without its answer. A damaged one loses its body and stays damaged. */
export function withoutAnswer(sums: Sums, row: Row): { body: string; sum: number | null } {
  const { sum } = sums.receipt
  if (damagedPart(sums.receipt, row) !== undefined || !sum)
    return { body: '{}', sum: typeof row.sum === 'number' ? row.sum : null }
  const { answer: _, ...receipt } = JSON.parse(text(row, 'body'))
  const body = JSON.stringify(receipt)
  return { body, sum: sumOf(sum, { ...row, body }) }
}

/** JSON separates the two unambiguously. */
export function receiptId(scope: string, key: string): string {
  return JSON.stringify([scope, key])
}
