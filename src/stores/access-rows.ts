import { type AuditRecord, type Grant, Role } from '../model/access.ts'
import type { AuditFact, AuditQuery, StoredToken } from './access.ts'
import { damaged } from './refusals.ts'
import { integer, type Row, text } from './row.ts'
import { damagedPart, type Sums, type TableRow } from './tables.ts'

/** The tokens in the order of their names, without removed and damaged ones. */
export function tokensIn(sums: Sums, rows: readonly Row[]): StoredToken[] {
  return rows
    .filter((row) => row.removed === null && damagedPart(sums.token, row) === undefined)
    .map(tokenIn)
    .sort((a, b) => byName(a.name, b.name))
}

/** The grants in the order of their names, without damaged ones. */
export function grantsIn(sums: Sums, rows: readonly Row[]): Grant[] {
  return rows
    .filter((row) => damagedPart(sums.permit, row) === undefined)
    .map((row) => ({
      to: text(row, 'grantee'),
      of: text(row, 'principal'),
      at: integer(row, 'at'),
      by: text(row, 'added_by'),
    }))
    .sort((a, b) => byName(a.to, b.to) || byName(a.of, b.of))
}

/** Roles as a column; one that this version does not know allows nothing. */
export const rolesColumn = (roles: readonly Role[]) => roles.join(' ')

function tokenIn(row: Row): StoredToken {
  const roles = text(row, 'roles').split(' ')
  return {
    name: text(row, 'name'),
    digest: text(row, 'digest'),
    roles: Role.options.filter((role) => roles.includes(role)),
    at: integer(row, 'at'),
    by: text(row, 'added_by'),
  }
}

const byName = (a: string, b: string) => (a < b ? -1 : Number(a > b))

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
