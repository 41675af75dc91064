import {
  type AccessChange,
  type AuditFact,
  type AuditRecord,
  type Grant,
  loginName,
  Role,
  type StoredToken,
} from '../model/access.ts'
import type { StoredWebhook } from '../model/webhook.ts'
import type { AccessStore, AuditQuery, ValidTime } from './access.ts'
import { webhookIn, webhookRow, webhooksIn } from './calls/webhook-rows.ts'
import { damaged } from './refusals.ts'
import { integer, type Row, text } from './row.ts'
import { damagedPart, type Sums, type TableRow } from './tables.ts'

/** Tokens, grants and webhooks: the tables that a change writes to. */
export type AccessTable = 'token' | 'permit' | 'webhook'

/** Leaves out the rows that only show what was removed. */
export const IN_FORCE: Readonly<Record<AccessTable, string>> = {
  token: 'WHERE t.removed IS NULL',
  permit: '',
  webhook: '',
}

/** The rows of tokens, grants and the audit trail in one database. */
export interface AccessTables {
  readonly sums: Pick<Sums, AccessTable | 'audit'>
  /** The same list as before if no row changed. */
  rows(table: AccessTable): Promise<readonly Row[]>
  trail(query: AuditQuery): Promise<readonly Row[]>
  /** Applies a change to the row of its key, and adds the fact, in one transaction. Returns false if nothing changes. */
  change(change: RowChange, fact: AuditFact): Promise<boolean>
  now(): Promise<number>
  consume(id: string, valid: ValidTime): Promise<boolean>
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
  readonly #tokens: Derived<StoredToken>
  readonly #grants: Derived<Grant>
  readonly #webhooks: Derived<StoredWebhook>

  constructor(tables: AccessTables) {
    this.#tables = tables
    this.#tokens = new Derived((rows) => tokensIn(this.#intact('token', rows)))
    this.#grants = new Derived((rows) => grantsIn(this.#intact('permit', rows)))
    this.#webhooks = new Derived((rows) => webhooksIn(this.#intact('webhook', rows)))
  }

  async tokens(): Promise<readonly StoredToken[]> {
    return this.#tokens.of(await this.#tables.rows('token'))
  }

  async grants(): Promise<readonly Grant[]> {
    return this.#grants.of(await this.#tables.rows('permit'))
  }

  async webhooks(): Promise<readonly StoredWebhook[]> {
    return this.#webhooks.of(await this.#tables.rows('webhook'))
  }

  now(): Promise<number> {
    return this.#tables.now()
  }

  consume(id: string, valid: ValidTime): Promise<boolean> {
    return this.#tables.consume(id, valid)
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

  #intact(table: AccessTable, rows: readonly Row[]): Row[] {
    return rows.filter((row) => damagedPart(this.#tables.sums[table], row) === undefined)
  }
}

/** What a list of rows means. Every request asks for it, so it is computed once for each list. */
class Derived<T> {
  readonly #derive: (rows: readonly Row[]) => readonly T[]
  #last: { rows: readonly Row[]; values: readonly T[] } | undefined

  constructor(derive: (rows: readonly Row[]) => readonly T[]) {
    this.#derive = derive
  }

  of(rows: readonly Row[]): readonly T[] {
    if (this.#last?.rows !== rows) this.#last = { rows, values: this.#derive(rows) }
    return this.#last.values
  }
}

function tokensIn(rows: readonly Row[]): StoredToken[] {
  const valid = rows.filter(({ removed }) => removed === null).map(tokenIn)
  const named = new Set(valid.filter(({ login }) => login === undefined).map(({ digest }) => digest))
  return valid
    .filter(({ allowedBy }) => allowedBy === undefined || named.has(allowedBy))
    .sort((a, b) => byName(a.name, b.name))
}

function grantsIn(rows: readonly Row[]): Grant[] {
  const grants = rows.map((row) => ({
    to: text(row, 'grantee'),
    of: text(row, 'principal'),
    at: integer(row, 'at'),
    by: text(row, 'added_by'),
  }))
  return grants.sort((a, b) => byName(a.to, b.to) || byName(a.of, b.of))
}

function rowChange(change: AccessChange, by: string): RowChange {
  switch (change.type) {
    case 'token.added': {
      const { name, digest, roles, onlyIfUnknown = false } = change
      const next = (before: Row | undefined, at: number) =>
        before && (onlyIfUnknown || before.removed === null)
          ? undefined
          : { ...NO_LOGIN, name, digest, roles: roles.join(' '), at, added_by: by, removed: null }
      return { table: 'token', key: { name }, next }
    }
    case 'login.added': {
      const { principal, digest, login, roles, allowedBy = null, at } = change
      const key = { name: loginName(digest) }
      const of = { principal, login, allowed_by: allowedBy }
      const next = (before: Row | undefined, now: number) =>
        before
          ? undefined
          : { ...key, ...of, digest, roles: roles.join(' '), at: at ?? now, added_by: by, removed: null }
      return { table: 'token', key, next }
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
    case 'webhook.added': {
      const { webhook } = change
      const next = (before: Row | undefined, at: number) =>
        before ? undefined : webhookRow({ ...webhook, at })
      return { table: 'webhook', key: { id: webhook.id }, next }
    }
    case 'webhook.changed': {
      const next = (before: Row | undefined, at: number) => {
        const after = before && change.to(webhookIn(before), at)
        return after && webhookRow(after)
      }
      return { table: 'webhook', key: { id: change.id }, next }
    }
    case 'webhook.removed': {
      const { id, principal } = change
      const next = (before: Row | undefined) =>
        before?.principal === principal ? ('removed' as const) : undefined
      return { table: 'webhook', key: { id }, next }
    }
    default:
      return change satisfies never
  }
}

const NO_LOGIN = { principal: null, login: null, allowed_by: null }

function tokenIn(row: Row): StoredToken {
  // A role that this version does not know allows nothing.
  const roles = text(row, 'roles').split(' ')
  const name = text(row, 'name')
  return {
    name,
    principal: row.principal === null ? name : text(row, 'principal'),
    digest: text(row, 'digest'),
    roles: Role.options.filter((role) => roles.includes(role)),
    at: integer(row, 'at'),
    by: text(row, 'added_by'),
    ...(row.login !== null && { login: text(row, 'login') }),
    ...(row.allowed_by !== null && { allowedBy: text(row, 'allowed_by') }),
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
