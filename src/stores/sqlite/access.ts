import type { SQLInputValue } from 'node:sqlite'
import type { AuditFact } from '../../model/access.ts'
import type { AuditQuery, ValidTime } from '../access.ts'
import {
  type AccessTable,
  type AccessTables,
  auditClauses,
  auditRow,
  IN_FORCE,
  type RowChange,
} from '../access-rows.ts'
import { storageFailed } from '../refusals.ts'
import type { Row } from '../row.ts'
import type { TableRow } from '../tables.ts'
import { UsedIds } from '../used-ids.ts'
import type { StoreChange } from './message.ts'
import type { SqliteReader } from './reader.ts'
import { SUMS, selectOf } from './table-rows.ts'
import type { WriterChannel } from './writer-channel.ts'

/** A fact with the time of this process, which is the only one that has the database open. */
export const timedFact = (fact: AuditFact): TableRow<'audit'> => ({ ...auditRow(fact), at: Date.now() })

/** Tokens, grants and the audit trail of a database. Changes are made one at a time, each on the result of the last. */
export class SqliteAccess implements AccessTables {
  readonly sums = SUMS
  readonly #reader: SqliteReader
  readonly #channel: WriterChannel
  /** Until a change: no other process has the database open. */
  readonly #lists = new Map<AccessTable, readonly Row[]>()
  readonly #used = new UsedIds()
  #changing: Promise<unknown> = Promise.resolve()

  constructor(reader: SqliteReader, channel: WriterChannel) {
    this.#reader = reader
    this.#channel = channel
  }

  async rows(table: AccessTable): Promise<readonly Row[]> {
    const rows = this.#lists.get(table) ?? this.#reader.rowsOf(`${selectOf(table)} ${IN_FORCE[table]}`)
    this.#lists.set(table, rows)
    return rows
  }

  now(): Promise<number> {
    return this.#used.now()
  }

  consume(id: string, valid: ValidTime): Promise<boolean> {
    return this.#used.consume(id, valid)
  }

  change({ table, key, next }: RowChange, fact: AuditFact): Promise<boolean> {
    const changed = this.#changing.then(async () => {
      const where = Object.keys(key).map((name) => `t.${name} = ?`)
      const sql = `${selectOf(table)} WHERE ${where.join(' AND ')}`
      const row = next(this.#reader.rowsOf(sql, Object.values(key))[0], Date.now())
      if (row === undefined) return false
      await this.#write({ kind: 'access', change: { table, key, row }, fact: timedFact(fact) })
      this.#lists.delete(table)
      return true
    })
    this.#changing = changed.catch(() => undefined)
    return changed
  }

  async note(fact: AuditFact): Promise<void> {
    await this.#write({ kind: 'access', fact: timedFact(fact) })
  }

  async trail(query: AuditQuery): Promise<Row[]> {
    const values: SQLInputValue[] = []
    const clauses = auditClauses(query, (value) => {
      values.push(value)
      return '?'
    })
    return this.#reader.rowsOf(`${selectOf('audit')} ${clauses}`, values)
  }

  async forgetAudit(ms: number): Promise<void> {
    await this.#write({ kind: 'forget', table: 'audit', before: Date.now() - ms })
  }

  async #write(change: StoreChange): Promise<void> {
    try {
      await this.#channel.ask(change)
    } catch (thrown) {
      throw storageFailed('cannot write to the store', thrown)
    }
  }
}
