import { type AuditRecord, type Grant, Role } from '../model/access.ts'
import type { AccessChange, AccessStore, AuditFact, AuditQuery, StoredToken } from './access.ts'
import { damaged } from './refusals.ts'
import { integer, type Row, text } from './row.ts'
import { damagedPart, type Sums, type TableRow } from './tables.ts'

/** Tokens and grants: the tables that a change writes to. */
export type AccessTable = 'token' | 'permit'

/** The rows of tokens, grants and the audit trail in one database. */
export interface AccessTables {
  readonly sums: Pick<Sums, AccessTable | 'audit'>
  rows(table: AccessTable): Promise<readonly Row[]>
  trail(query: AuditQuery): Promise<readonly Row[]>
  /** Applies a change to the row of its key, and adds the fact, in one transaction. Returns false if nothing changes. */
  change(change: RowChange, fact: AuditFact): Promise<boolean>
  note(fact: AuditFact): Promise<void>
  forgetAudit(ms: number): Promise<void>
}

export interface RowChange {
  table: AccessTable
  /** The columns of the key. */
  key: Readonly<Record<string, string>>
  /** The row after the change; undefined if there is nothing to change. */
  next(before: Row | undefined, at: number): Row | 'removed' | undefined
}

/** Who may use the server and who did what, over the rows of any database. */
export class AccessRows implements AccessStore {
  readonly #tables: AccessTables

  constructor(tables: AccessTables) {
    this.#tables = tables
  }

  async tokens(): Promise<StoredToken[]> {
    const rows = await this.#intact('token')
    return rows
      .filter(({ removed }) => removed === null)
      .map(tokenIn)
      .sort((a, b) => byName(a.name, b.name))
  }

  async grants(): Promise<Grant[]> {
    const grants = (await this.#intact('permit')).map((row) => ({
      to: text(row, 'grantee'),
      of: text(row, 'principal'),
      at: integer(row, 'at'),
      by: text(row, 'added_by'),
    }))
    return grants.sort((a, b) => byName(a.to, b.to) || byName(a.of, b.of))
  }

  change(change: AccessChange, fact: AuditFact): Promise<boolean> {
    return this.#tables.change(rowChange(change, fact.principal), fact)
  }

  note(fact: AuditFact): Promise<void> {
    return this.#tables.note(fact)
  }

  async audit(query: AuditQuery): Promise<AuditRecord[]> {
    return (await this.#tables.trail(query)).map((row) => auditRecordIn(this.#tables.sums, row))
  }

  forgetAudit(ms: number): Promise<void> {
    return this.#tables.forgetAudit(ms)
  }

  async #intact(table: AccessTable): Promise<Row[]> {
    const rows = await this.#tables.rows(table)
    return rows.filter((row) => damagedPart(this.#tables.sums[table], row) === undefined)
  }
}

function rowChange(change: AccessChange, by: string): RowChange {
  switch (change.type) {
    case 'token.added': {
      const { name, digest, roles, onlyIfUnknown = false } = change
      const next = (before: Row | undefined, at: number) =>
        before && (onlyIfUnknown || before.removed === null)
          ? undefined
          : { name, digest, roles: roles.join(' '), at, added_by: by, removed: null }
      return { table: 'token', key: { name }, next }
    }
    case 'token.removed': {
      const next = (before: Row | undefined, at: number) =>
        before?.removed === null ? { ...before, removed: at } : undefined
      return { table: 'token', key: { name: change.name }, next }
    }
    case 'grant.added': {
      const key = { grantee: change.to, principal: change.of }
      return {
        table: 'permit',
        key,
        next: (before, at) => (before ? undefined : { ...key, at, added_by: by }),
      }
    }
    case 'grant.removed': {
      const key = { grantee: change.to, principal: change.of }
      return { table: 'permit', key, next: (before) => before && 'removed' }
    }
    default:
      return change satisfies never
  }
}

function tokenIn(row: Row): StoredToken {
  // A role that this version does not know allows nothing.
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
function auditRecordIn(sums: Pick<Sums, 'audit'>, row: Row): AuditRecord {
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
