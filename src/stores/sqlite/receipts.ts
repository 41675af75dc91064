import type { DatabaseSync } from 'node:sqlite'
import { checksum, matches } from '../checksum.ts'
import { integer, type Row, text } from '../row.ts'

export function receiptSum(row: Row): number {
  return checksum([integer(row, 'at')], text(row, 'id'), text(row, 'session'), text(row, 'body'))
}

/** Removes the answers from the receipts of a session. A damaged receipt loses its body and stays damaged. */
export function removeAnswers(db: DatabaseSync, session: string): void {
  const rows = db.prepare('SELECT id, session, at, body, sum FROM receipt WHERE session = ?').all(session)
  const change = db.prepare('UPDATE receipt SET body = ?, sum = ? WHERE id = ?')
  for (const row of rows) {
    if (!matches(row.sum, () => receiptSum(row))) change.run('{}', row.sum ?? null, text(row, 'id'))
    else {
      const { answer: _, ...receipt } = JSON.parse(text(row, 'body'))
      const body = JSON.stringify(receipt)
      change.run(body, receiptSum({ ...row, body }), text(row, 'id'))
    }
  }
}
