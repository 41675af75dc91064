import type { AuditFact } from '../../model/access.ts'
import type { AuditPlace, AuditQuery, ValidTime } from '../access.ts'
import { type AccessTable, type AccessTables, auditRow, type RowChange } from '../access-rows.ts'
import type { WebhookCall } from '../calls.ts'
import { type Row, text } from '../row.ts'
import type { TableRow } from '../tables.ts'
import { UsedIds } from '../used-ids.ts'
import type { Recipients } from './calls.ts'

/** Tokens, grants and the audit trail in memory, where nothing is damaged. */
export class MemoryAccess implements AccessTables, Recipients {
  readonly sums = { token: {}, permit: {}, webhook: {}, audit: {} }
  readonly #tables: Record<AccessTable, Map<string, Row>> = {
    token: new Map(),
    permit: new Map(),
    webhook: new Map(),
  }
  readonly #trail = new Map<string, TableRow<'audit'>>()

  readonly #lists = new Map<AccessTable, readonly Row[]>()
  readonly #used = new UsedIds()

  async rows(table: AccessTable): Promise<readonly Row[]> {
    const rows = this.#lists.get(table) ?? [...this.#tables[table].values()]
    this.#lists.set(table, rows)
    return rows
  }

  /** The same condition as `wants` of the databases. */
  *wanting({ principal, type, session }: WebhookCall): Generator<string> {
    const grants = [...this.#tables.permit.values()].filter((grant) => grant.principal === principal)
    const readers = new Set([principal, ...grants.map((grant) => text(grant, 'grantee'))])
    for (const row of this.#tables.webhook.values()) {
      const isWanted = row.disabled === null && readers.has(text(row, 'principal'))
      const isChosen = row.sessions === null || text(row, 'sessions').includes(` ${session} `)
      if (isWanted && isChosen && text(row, 'events').includes(` ${type} `)) yield text(row, 'id')
    }
  }

  has(webhook: string): boolean {
    return this.#tables.webhook.has(JSON.stringify({ id: webhook }))
  }

  now(): Promise<number> {
    return this.#used.now()
  }

  consume(id: string, valid: ValidTime): Promise<boolean> {
    return this.#used.consume(id, valid)
  }

  async change({ table, key, next }: RowChange, fact: AuditFact): Promise<boolean> {
    const rows = this.#tables[table]
    const id = JSON.stringify(key)
    const changed = next(rows.get(id), Date.now())
    if (changed === undefined) return false
    if (changed === 'removed') rows.delete(id)
    else rows.set(id, changed)
    this.#lists.delete(table)
    this.add([fact])
    return true
  }

  async note(fact: AuditFact): Promise<void> {
    this.add([fact])
  }

  /** Adds the rows of a commit. */
  add(facts: readonly AuditFact[]): void {
    const at = Date.now()
    for (const fact of facts) {
      if (!this.#trail.has(fact.id)) this.#trail.set(fact.id, { ...auditRow(fact), at })
    }
  }

  async trail({ order, after, limit, ...query }: AuditQuery): Promise<Row[]> {
    const { principal, action, session, since = 0, until = Number.POSITIVE_INFINITY } = query
    const sign = order === 'newest' ? -1 : 1
    return [...this.#trail.values()]
      .filter(
        (one) =>
          (principal ?? one.principal) === one.principal &&
          (action ?? one.action) === one.action &&
          (session ?? one.session) === one.session &&
          one.at >= since &&
          one.at < until &&
          (after === undefined || sign * byPlace(one, after) > 0),
      )
      .sort((a, b) => sign * byPlace(a, b))
      .slice(0, limit)
  }

  async forgetAudit(ms: number): Promise<void> {
    const before = Date.now() - ms
    for (const [id, { at }] of this.#trail) if (at < before) this.#trail.delete(id)
  }
}

const byPlace = (a: AuditPlace, b: AuditPlace) => a.at - b.at || (a.id < b.id ? -1 : Number(a.id > b.id))
