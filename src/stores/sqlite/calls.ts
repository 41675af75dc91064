import type { SQLInputValue } from 'node:sqlite'
import {
  type CallSelection,
  type CallState,
  type CallTables,
  callClauses,
  FIRST_DUE,
} from '../calls/call-statements.ts'
import type { OldDeliveries } from '../calls.ts'
import { storageFailed } from '../refusals.ts'
import { type Row, text } from '../row.ts'
import type { StoreChange } from './message.ts'
import type { SqliteReader } from './reader.ts'
import { SUMS, selectOf } from './table-rows.ts'
import type { WriterChannel } from './writer-channel.ts'

/** The calls of webhooks of a database. Changes are made one at a time, each on the result of the last. */
export class SqliteCalls implements CallTables {
  readonly sums = SUMS
  readonly #reader: SqliteReader
  readonly #channel: WriterChannel
  #changing: Promise<unknown> = Promise.resolve()

  constructor(reader: SqliteReader, channel: WriterChannel) {
    this.#reader = reader
    this.#channel = channel
  }

  async due(): Promise<Row[]> {
    return this.#reader.rowsOf(FIRST_DUE.replaceAll('@', ''))
  }

  async rows(selection: CallSelection): Promise<Row[]> {
    const values: SQLInputValue[] = []
    const { where, order } = callClauses(selection, (value) => {
      values.push(value)
      return '?'
    })
    return this.#reader.rowsOf(`${selectOf('delivery')} ${where} ${order}`, values)
  }

  change(selection: CallSelection, next: (before: Row) => CallState | undefined): Promise<readonly Row[]> {
    const changed = this.#changing.then(async () => {
      const rows = (await this.rows(selection)).flatMap((before) => {
        const state = next(before)
        return state ? [{ ...before, ...state }] : []
      })
      if (rows.length > 0) await this.#write({ kind: 'calls', rows })
      return rows
    })
    this.#changing = changed.catch(() => undefined)
    return changed
  }

  async forget(old: OldDeliveries): Promise<void> {
    await this.#write({ kind: 'forget calls', ...old })
  }

  async #write(change: StoreChange): Promise<void> {
    try {
      await this.#channel.ask(change)
    } catch (thrown) {
      throw storageFailed('cannot write to the store', thrown)
    }
  }
}

/** The key of a call. */
export const callKey = (row: Row): [string, string] => [text(row, 'webhook'), text(row, 'id')]
