import type { AuditFact } from '../../model/access.ts'
import { withoutAnswer } from '../receipts.ts'
import { checkFence } from '../refusals.ts'
import { integer, type Row } from '../row.ts'
import { NO_FENCE, type TrimPoint } from '../store.ts'
import { addFact } from './access.ts'
import { toColumn } from './columns.ts'
import type { Database, Query } from './database.ts'
import { checkSession, isIntact, namedRow, SUMS, selectOf, sessionSum } from './table-rows.ts'

/** Removing a long log takes as long as it needs. */
const NO_TIMEOUT = 0

/** Locks the session, so that neither its owner nor its log changes until the end of the transaction. */
const LOCK = `SELECT s.n, s.fence, ${isIntact('s')} AS intact FROM @session s WHERE s.id = $1 FOR UPDATE`

/** Keeps the row that contains this entry, and the last row, which marks the end of the log. */
const TRIM_LOG = `WITH kept AS (SELECT max(first) AS first FROM @log WHERE session = $1 AND first <= $2),
  gone AS (DELETE FROM @log l USING kept WHERE l.session = $1 AND l.first < kept.first)
  ${setCounter('earliest', 'greatest(s.earliest, coalesce((SELECT first FROM kept), 1))')}`

const TRIM_JOURNAL = `WITH gone AS (DELETE FROM @journal WHERE session = $1 AND last < $2 RETURNING last)
  ${setCounter('earliest_frame', 'greatest(s.earliest_frame, coalesce((SELECT max(last) FROM gone), 0) + 1)')}`

const DELETES = [
  'DELETE FROM @log WHERE session = $1',
  'DELETE FROM @journal WHERE session = $1',
  'DELETE FROM @record WHERE session = $1',
  'DELETE FROM @queued WHERE session = $1',
  'DELETE FROM @blob_part p USING @blob b WHERE b.session = $1 AND p.blob = b.id',
  'DELETE FROM @blob WHERE session = $1',
  'DELETE FROM @session WHERE n = $1',
]

/** The transactions that delete data. Each can be repeated. */
export class Removals {
  readonly #database: Database
  readonly #now: () => number | null

  constructor(database: Database, now: () => number | null) {
    this.#database = database
    this.#now = now
  }

  trim(session: string, { seq, frame }: TrimPoint, fence: number): Promise<void> {
    return this.#transact(async (query) => {
      const [row] = await query(LOCK, [toColumn(session)])
      if (row) checkSession(session, row)
      const n = checked(session, row, fence)
      if (n === undefined) return
      if (seq !== undefined) await query(TRIM_LOG, [n, seq])
      if (frame !== undefined) await query(TRIM_JOURNAL, [n, frame])
    })
  }

  /** A second attempt after a broken connection finds nothing, which is a success. */
  delete(session: string, fence: number, fact: AuditFact | undefined): Promise<void> {
    let isRepeated = false
    return this.#transact(async (query) => {
      const [row] = await query(LOCK, [toColumn(session)])
      if (!row && isRepeated) return
      isRepeated = true
      const n = checked(session, row, fence)
      if (n === undefined) return
      await removeAnswers(query, session)
      await query('DELETE FROM @delivery WHERE session = $1', [toColumn(session)])
      for (const sql of DELETES) await query(sql, [n])
      if (fact) await addFact(query, fact, this.#now())
    })
  }

  async forgetReceipts(before: number): Promise<void> {
    const forget = () => this.#database.write('DELETE FROM @receipt WHERE at < $1', [before])
    await this.#database.persist(forget)
  }

  #transact(work: (query: Query) => Promise<void>): Promise<void> {
    return this.#database.persist(() => this.#database.transaction(NO_TIMEOUT, work))
  }
}

function setCounter(column: 'earliest' | 'earliest_frame', value: string): string {
  return `UPDATE @session s SET ${column} = ${value}, sum = ${sessionSum('s', { [column]: value })} WHERE s.n = $1`
}

/** The number of a session, if it exists. Refuses a different fence, unless the session is damaged and may be deleted. */
function checked(session: string, row: Row | undefined, fence: number): number | undefined {
  if (row?.intact !== false) checkFence(session, row ? integer(row, 'fence') : NO_FENCE, fence)
  return row && integer(row, 'n')
}

async function removeAnswers(query: Query, session: string): Promise<void> {
  for (const row of await query(`${selectOf('receipt')} WHERE t.session = $1`, [toColumn(session)])) {
    const { body, sum } = withoutAnswer(SUMS, namedRow('receipt', row))
    await query('UPDATE @receipt SET body = $2, sum = $3 WHERE id = $1', [row.id, body, sum])
  }
}
