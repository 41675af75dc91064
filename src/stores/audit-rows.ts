import type { AuditRecord } from '../model/access.ts'
import type { AuditFact, AuditQuery } from './access.ts'
import { damaged } from './damaged.ts'
import { integer, type Row, text } from './row.ts'
import { damagedPart, type Sums, type TableRow } from './tables.ts'

/** A row of the audit trail; the database knows the time. */
export type AuditRow = Omit<TableRow<'audit'>, 'at'>

export function auditRow({ id, principal, action, session, ...body }: AuditFact): AuditRow {
  return { id, principal, action, session: session ?? null, body: JSON.stringify(body) }
}

/** Refuses a row that does not match its checksum. */
export function auditRecordIn(sums: Sums, row: Row): AuditRecord {
  const what = damagedPart(sums.audit, row)
  if (what !== undefined) throw damaged(what)
  const { id, at, principal, action, session } = row
  return {
    ...{ id, at, action, principal },
    ...(session !== null && { session }),
    ...JSON.parse(text(row, 'body')),
    at: integer(row, 'at'),
  }
}

/** The condition and the order of a query; `place` takes a value and gives its place in the statement. */
export function auditClauses(query: AuditQuery, place: (value: string | number) => string): string {
  const { principal, action, session, since, until, order, after, limit } = query
  const [beyond, direction] = order === 'newest' ? ['<', 'DESC'] : ['>', 'ASC']
  const conditions = [
    principal !== undefined && `t.principal = ${place(principal)}`,
    action !== undefined && `t.action = ${place(action)}`,
    session !== undefined && `t.session = ${place(session)}`,
    since !== undefined && `t.at >= ${place(since)}`,
    until !== undefined && `t.at < ${place(until)}`,
    after !== undefined && `(t.at, t.id) ${beyond} (${place(after.at)}, ${place(after.id)})`,
  ].filter((one) => one !== false)
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  return `${where} ORDER BY t.at ${direction}, t.id ${direction} LIMIT ${place(limit)}`
}
