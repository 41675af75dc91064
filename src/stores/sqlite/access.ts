import type { SQLInputValue } from 'node:sqlite'
import type { AuditRecord, Grant } from '../../model/access.ts'
import type { AccessChange, AccessStore, AuditFact, AuditQuery, StoredToken } from '../access.ts'
import { auditClauses, auditRecordIn, auditRow, grantsIn, rolesColumn, tokensIn } from '../access-rows.ts'
import { storageFailed } from '../refusals.ts'
import type { Row } from '../row.ts'
import type { TableRow } from '../tables.ts'
import type { AccessWrite } from './message.ts'
import type { SqliteReader } from './reader.ts'
import { selectOf } from './table-rows.ts'
import type { WriterChannel } from './writer-channel.ts'

/** A fact with the time of this process, which is the only one that has the database open. */
export const timedFact = (fact: AuditFact): TableRow<'audit'> => ({ ...auditRow(fact), at: Date.now() })

/** Tokens, grants and the audit trail of a database. Changes are made one at a time, each on the result of the last. */
export class SqliteAccess implements AccessStore {
  readonly #reader: SqliteReader
  readonly #channel: WriterChannel
  #changing: Promise<unknown> = Promise.resolve()

  constructor(reader: SqliteReader, channel: WriterChannel) {
    this.#reader = reader
    this.#channel = channel
  }

  async tokens(): Promise<StoredToken[]> {
    return tokensIn(this.#reader.sums, this.#reader.rowsOf(selectOf('token')))
  }

  async grants(): Promise<Grant[]> {
    return grantsIn(this.#reader.sums, this.#reader.rowsOf(selectOf('permit')))
  }

  change(change: AccessChange, fact: AuditFact): Promise<boolean> {
    const changed = this.#changing.then(async () => {
      const rows = this.#rowsOf(change, fact.principal)
      if (rows) await this.#write({ ...rows, fact: timedFact(fact) })
      return rows !== undefined
    })
    this.#changing = changed.catch(() => undefined)
    return changed
  }

  async note(fact: AuditFact): Promise<void> {
    await this.#write({ fact: timedFact(fact) })
  }

  async audit(query: AuditQuery): Promise<AuditRecord[]> {
    const values: SQLInputValue[] = []
    const clauses = auditClauses(query, (value) => {
      values.push(value)
      return '?'
    })
    const rows = this.#reader.rowsOf(`${selectOf('audit')} ${clauses}`, values)
    return rows.map((row) => auditRecordIn(this.#reader.sums, row))
  }

  async forgetAudit(ms: number): Promise<void> {
    await this.#write({ forgetBefore: Date.now() - ms })
  }

  /** The rows to write; undefined if there is nothing to change. */
  #rowsOf(change: AccessChange, by: string): Omit<AccessWrite, 'kind'> | undefined {
    const at = Date.now()
    switch (change.type) {
      case 'token.added': {
        const { name, digest, roles, onlyIfUnknown = false } = change
        const row = this.#find('token', { name })
        const isKnown = row !== undefined && (onlyIfUnknown || row.removed === null)
        const token = { name, digest, roles: rolesColumn(roles), at, added_by: by, removed: null }
        return isKnown ? undefined : { token }
      }
      case 'token.removed': {
        const row = this.#find('token', { name: change.name })
        const token = row && { ...row, removed: at }
        return row?.removed === null && token ? { token } : undefined
      }
      case 'grant.added': {
        const { to: grantee, of: principal } = change
        const isKnown = this.#find('permit', { grantee, principal }) !== undefined
        return isKnown ? undefined : { permit: { grantee, principal, at, added_by: by } }
      }
      case 'grant.removed': {
        const { to: grantee, of: principal } = change
        const isKnown = this.#find('permit', { grantee, principal }) !== undefined
        return isKnown ? { withdrawn: { grantee, principal } } : undefined
      }
      default:
        return change satisfies never
    }
  }

  #find(table: 'token' | 'permit', key: Readonly<Record<string, string>>): Row | undefined {
    const where = Object.keys(key).map((name) => `t.${name} = ?`)
    return this.#reader.rowsOf(`${selectOf(table)} WHERE ${where.join(' AND ')}`, Object.values(key))[0]
  }

  async #write(write: Omit<AccessWrite, 'kind'>): Promise<void> {
    try {
      await this.#channel.ask({ kind: 'access', ...write })
    } catch (thrown) {
      throw storageFailed('cannot write to the store', thrown)
    }
  }
}
