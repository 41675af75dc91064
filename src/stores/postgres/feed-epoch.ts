import { randomBytes } from 'node:crypto'
import { text } from '../row.ts'
import type { Database } from './database.ts'

const WAIT_MS = 10_000

/** A dump that is restored has another table, in another database or on another server. */
const TABLE = `SELECT d.oid || '.' || c.oid AS place FROM pg_database d, pg_class c
  WHERE d.datname = current_database() AND c.oid = '@log'::regclass`
const SERVER = 'SELECT system_identifier::text AS server FROM pg_control_system()'

const ADOPT = "UPDATE @feed SET place = $1 WHERE place = ''"
const RENEW = `UPDATE @feed SET place = $1, epoch = $2, after = s.last
  FROM (SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM @log_id_seq OFFSET 0) s WHERE place <> $1`

/**
 * Begins a new epoch of the feed if the tables were restored from a dump: the transactions of its rows belong to another
 * server, and cursors from after the dump would skip entries or repeat them. Entries in the dump are not in the new feed.
 */
export async function renewEpoch(database: Database): Promise<void> {
  const place = await placeOf(database)
  await database.write(ADOPT, [place])
  const [restored] = await database.read('SELECT FROM @feed WHERE place <> $1', [place])
  if (!restored) return
  await database.transaction(WAIT_MS, async (query) => {
    // Lets commits end that are under way, so that every later row is after `last`.
    await query('LOCK TABLE @log IN SHARE ROW EXCLUSIVE MODE')
    await query(RENEW, [place, randomBytes(4).toString('hex')])
  })
}

async function placeOf(database: Database): Promise<string> {
  const [table] = await database.read(TABLE)
  // A provider may forbid this function; the table alone tells almost every restored dump.
  const [server] = await database.read(SERVER).catch(() => [])
  return `${text(table ?? {}, 'place')}.${server ? text(server, 'server') : ''}`
}
