import {
  type CallRow,
  type CallSelection,
  type CallState,
  type CallTables,
  callClauses,
  FIRST_DUE,
  forgetCalls,
  wants,
} from '../calls/call-statements.ts'
import type { OldDeliveries } from '../calls.ts'
import { storageFailed } from '../refusals.ts'
import type { Row } from '../row.ts'
import { deliveryStateSum, sumOf } from '../tables.ts'
import { toColumn } from './columns.ts'
import type { Database } from './database.ts'
import { givenRows, insertOf, type Parameters } from './parameters.ts'
import { deliverySum, namedRow, SUMS, selectOf } from './table-rows.ts'

const STATE = ['status', 'attempts', 'changed', 'due', 'note'] as const

const UPDATE = `UPDATE @delivery SET ${STATE.map((name, index) => `${name} = $${index + 3}`).join(', ')},
  state_sum = $${STATE.length + 3} WHERE webhook = $1 AND id = $2`

/** Adds calls, once for each webhook that wants them. `join` leaves out those of refused commits. */
export function insertCalls(
  parameters: Parameters,
  calls: readonly (CallRow & { of: string })[],
  join: string,
): string {
  const given = givenRows(
    parameters,
    'delivery',
    calls.map((call) => ({ ...call, webhook: '' })),
  )
  const from = `${given.from} ${join} JOIN @webhook w ON ${wants('strpos', (column) => `g.${column}`)}`
  return `${insertOf('delivery', given, from, { webhook: 'w.id', sum: deliverySum('g', 'w.id') })} ON CONFLICT DO NOTHING`
}

/** The calls of webhooks, which all servers of a database share. */
export class PostgresCalls implements CallTables {
  readonly sums = SUMS
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async due(): Promise<Row[]> {
    return (await this.#database.read(FIRST_DUE)).map((row) => namedRow('delivery', row))
  }

  async rows(selection: CallSelection): Promise<Row[]> {
    const { sql, values } = selecting(selection)
    return (await this.#database.read(sql, values)).map((row) => namedRow('delivery', row))
  }

  async change(
    selection: CallSelection,
    next: (before: Row) => CallState | undefined,
  ): Promise<readonly Row[]> {
    const { sql, values } = selecting(selection, 'FOR UPDATE SKIP LOCKED')
    return this.#write(() =>
      this.#database.transaction(0, async (query) => {
        const changed: Row[] = []
        for (const found of await query(sql, values)) {
          const before = namedRow('delivery', found)
          const state = next(before)
          if (!state) continue
          const columns = STATE.map((name) => {
            const value = state[name]
            return typeof value === 'string' ? toColumn(value) : value
          })
          await query(UPDATE, [found.webhook, found.id, ...columns, sumOf(deliveryStateSum, { ...state })])
          changed.push({ ...before, ...state })
        }
        return changed
      }),
    )
  }

  async forget(old: OldDeliveries): Promise<void> {
    const values: number[] = []
    const sql = forgetCalls(old, (value) => `$${values.push(value)}::float8`)
    await this.#write(() => this.#database.transaction(0, (query) => query(sql, values)))
  }

  async #write<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#database.persist(work)
    } catch (thrown) {
      throw storageFailed('cannot write to the store', thrown)
    }
  }
}

function selecting(selection: CallSelection, lock = ''): { sql: string; values: unknown[] } {
  const values: unknown[] = []
  const { where, order } = callClauses(
    selection,
    (value) => `$${values.push(typeof value === 'string' ? toColumn(value) : value)}`,
  )
  return { sql: `${selectOf('delivery')} ${where} ${order} ${lock}`, values }
}
