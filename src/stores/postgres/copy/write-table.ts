import { addedAgain } from '../../copy/copied-store.ts'
import { storageFailed } from '../../refusals.ts'
import type { Row } from '../../row.ts'
import { isFree, RECORD_COLUMNS, type TableName } from '../../tables.ts'
import type { Database } from '../database.ts'
import { type GivenRows, givenRows, insertOf, insertRecords, Parameters, quoted } from '../parameters.ts'
import { deliverySum, exact, rowSum, sessionSum } from '../table-rows.ts'

/** Adds rows with the checksums of this store. A page is one statement, which can be repeated. */
export async function addRows(database: Database, table: TableName, rows: readonly Row[]): Promise<void> {
  const parameters = new Parameters()
  const sql = additionOf(table, givenRows(parameters, table, rows))
  const values = parameters.finish()
  try {
    await database.persist(() => database.transaction(0, (query) => query(sql, values)))
  } catch (thrown) {
    throw storageFailed('cannot write to the store', thrown)
  }
}

function additionOf(table: TableName, given: GivenRows): string {
  if (table === 'session') return insertSessions(given)
  const { from } = given
  const owner = 'JOIN @session s ON s.id = g.session'
  // The content was stored before, and belonged to no session yet.
  if (table === 'blob')
    return `UPDATE @blob b SET session = s.n, owner_sum = g.owner_sum FROM ${from} ${owner}
      WHERE b.id = g.id AND b.session IS NULL AND $1::bytea IS NOT NULL`
  const changed = {
    ...(!isFree(table) && { session: 's.n' }),
    // The feed of all sessions begins after a copy, under a new name.
    ...(table === 'log' && { xact: 'NULL' }),
    ...((table === 'receipt' || table === 'audit') && { at_sum: rowSum(['g.id', exact('g.at')]) }),
    ...(table === 'delivery' && { sum: deliverySum('g') }),
  }
  return `${insertOf(table, given, `${from} ${isFree(table) ? '' : owner}`, changed)}
    WHERE $1::bytea IS NOT NULL ORDER BY g.place ${addedAgain(table)}`
}

const RECORD: readonly string[] = [...RECORD_COLUMNS, 'record_sum']

/** Records have a table of their own. */
function insertSessions(given: GivenRows): string {
  const { from, columns } = given
  const own = Object.entries(columns).filter(([name]) => name !== 'session' && !RECORD.includes(name))
  const changed = { id: 'g.session', writes: '1', inherited: '0', recorded: '(g."recordPos" IS NOT NULL)' }
  const all = { ...Object.fromEntries(own), ...changed, sum: sessionSum('g', changed) }
  return `WITH added AS (INSERT INTO @session (${quoted(all)}) SELECT ${Object.values(all).join(', ')} FROM ${from}
      ORDER BY g.place ON CONFLICT (id) DO NOTHING RETURNING n, id)
    ${insertRecords(given, `${from} JOIN added a ON a.id = g.session`, 'a.n')} WHERE g."recordPos" IS NOT NULL`
}
