import { SCHEMA_VERSION } from '../../model/index.ts'
import { ADD_CHARGE, COUNTS } from '../daily-usage.ts'
import type { Row } from '../row.ts'
import { isFree, RECORD_COLUMNS } from '../tables.ts'
import { insertFacts } from './access.ts'
import { insertCalls } from './calls.ts'
import { toColumn } from './columns.ts'
import {
  givenRows,
  insertOf,
  insertRecords,
  nowSql,
  Parameters,
  quoted,
  recordColumns,
} from './parameters.ts'
import { begun, continued, journalOf, leavingQueue, type PostgresRun, queueOf } from './session-change.ts'
import { exact, rowSum } from './table-rows.ts'

export interface Statement {
  sql: string
  values: unknown[]
}

/**
 * One statement that commits all runs: the rows of their sessions are changed where fence, head and count of writes are
 * the expected ones, and everything else is joined with these rows. So it is a transaction without a second round
 * trip, and a run that is refused leaves nothing behind. It answers with the sessions that were accepted.
 */
export function commitStatement(runs: readonly PostgresRun[], now: number | null): Statement {
  const parameters = new Parameters()
  const [taken, isFree] = takenKeys(parameters, runs)
  const [leaving, left] = leavingQueue(parameters, runs)
  const parts = [
    ...taken,
    ...leaving,
    begun(parameters, runs, isFree),
    continued(parameters, runs, isFree, left),
    'done AS (SELECT n, id FROM begun UNION ALL SELECT n, id FROM continued)',
    ...PARTS.flatMap((part) => part(parameters, runs, now) ?? []),
  ]
  const sql = `WITH ${parts.join(',\n')}\nSELECT id FROM done WHERE $1::bytea IS NOT NULL`
  return { sql, values: parameters.finish() }
}

/** Keys that exist already refuse their session; one that another server takes at this moment fails the statement. */
function takenKeys(parameters: Parameters, runs: readonly PostgresRun[]): [parts: string[], isFree: string] {
  const keys = eachBatch(runs, ({ receipts }) => receipts).map(({ id: key, of }) => ({
    key,
    id: toColumn(of),
  }))
  if (keys.length === 0) return [[], '']
  const rows = parameters.rows('k', { id: 'text', key: 'text' }, keys)
  return [
    [`taken AS (SELECT k.id FROM ${rows} JOIN @receipt r ON r.id = k.key)`],
    ' AND NOT EXISTS (SELECT FROM taken WHERE taken.id = i.id)',
  ]
}

type Part = (parameters: Parameters, runs: readonly PostgresRun[], now: number | null) => string | undefined

const PARTS: readonly Part[] = [
  function leases(parameters, runs, now) {
    const rows = runs.flatMap(({ session, terms }) =>
      terms ? { id: toColumn(session), owner: toColumn(terms.owner), ttl: terms.ttlMs } : [],
    )
    if (rows.length === 0) return undefined
    const owners = parameters.rows('o', { id: 'text', owner: 'text', ttl: 'float8' }, rows)
    return `leased AS (INSERT INTO @owner AS held (id, until)
      SELECT o.owner, max(o.ttl) + ${nowSql(parameters, now)} FROM ${owners} JOIN done d ON d.id = o.id GROUP BY o.owner
      ON CONFLICT (id) DO UPDATE SET until = greatest(held.until, excluded.until))`
  },

  function log(parameters, runs) {
    const version = SCHEMA_VERSION
    const rows = eachBatch(runs, ({ log, session }) => log.map((row) => ({ ...row, session, version })))
    return inserted(parameters, 'log', rows)
  },

  function journal(parameters, runs) {
    return inserted(parameters, 'journal', eachRun(runs, journalOf))
  },

  function records(parameters, runs) {
    const rows = runs.flatMap(({ session, batches }) => {
      const record = batches.findLast(({ record }) => record)?.record
      return record ? { ...record, session, of: session } : []
    })
    if (rows.length === 0) return undefined
    const given = givenRows(parameters, 'session', rows, RECORD_COLUMNS)
    const set = Object.keys(recordColumns(given)).map((name) => `${name} = excluded.${name}`)
    return `recorded AS (${insertRecords(given, `${given.from} ${OWNER}`, 'd.n')}
      ON CONFLICT (session) DO UPDATE SET ${set.join(', ')})`
  },

  function natives(parameters, runs) {
    const rows = eachBatch(runs, ({ record }) =>
      record ? record.natives.map((id) => ({ id, principal: record.principal })) : [],
    )
    return inserted(parameters, 'native', rows, { onConflict: 'ON CONFLICT DO NOTHING' })
  },

  function queued(parameters, runs) {
    return inserted(
      parameters,
      'queued',
      eachRun(runs, (run) => queueOf(run).queued),
    )
  },

  function dequeued(_, runs) {
    if (runs.every((run) => queueOf(run).dequeued.length === 0)) return undefined
    return `left_queue AS (DELETE FROM @queued q USING leaving x, done d
      WHERE d.id = x.id AND q.session = d.n AND q.turn = x.turn)`
  },

  function receipts(parameters, runs) {
    const rows = eachBatch(runs, ({ receipts }) => receipts)
    // A server that was suspended is behind the others until it compares its time with theirs.
    const at = 'greatest(g.at, t.ms)'
    const changed = { at, at_sum: rowSum(['g.id', exact(at)]) }
    return inserted(parameters, 'receipt', rows, { changed, join: 'CROSS JOIN @open_time t' })
  },

  function blobs(parameters, runs) {
    const rows = eachBatch(runs, ({ session, blobs }) => blobs.map((id) => ({ id, session })))
    if (rows.length === 0) return undefined
    const { from } = givenRows(parameters, 'blob', rows)
    return `owned AS (UPDATE @blob b SET session = d.n, owner_sum = g.owner_sum
      FROM ${from} JOIN done d ON d.id = g.of WHERE b.id = g.id AND b.session IS NULL)`
  },

  function facts(parameters, runs, now) {
    const facts = eachBatch(runs, (batch) => batch.facts)
    if (facts.length === 0) return undefined
    return `audited AS (${insertFacts(parameters, facts, now, OWNER)})`
  },

  function calls(parameters, runs) {
    const calls = eachBatch(runs, (batch) => batch.calls)
    return calls.length === 0 ? undefined : `called AS (${insertCalls(parameters, calls, OWNER)})`
  },

  function charges(parameters, runs) {
    const rows = eachBatch(runs, (batch) => batch.charges)
    if (rows.length === 0) return undefined
    const { from, columns } = givenRows(parameters, 'spent', rows)
    const sums = COUNTS.map((name) => `sum(${columns[name]})`)
    const all = ['sum(g.sessions)', 'sum(g.turns)', ...sums, 'max(g.partial)']
    // In one order, so that two servers that charge the same principals do not wait for each other.
    return `charged AS (INSERT INTO @spent AS s (${quoted(columns)}) SELECT ${ACCOUNT}, ${all.join(', ')}
      FROM ${from} ${OWNER} GROUP BY ${ACCOUNT} ORDER BY ${ACCOUNT} ${ADD_CHARGE})`
  },
]

const ACCOUNT = 'g.principal, g.agent, g.model, g.day'
/** Only what belongs to an accepted commit. */
const OWNER = 'JOIN done d ON d.id = g.of'

/** Adds the rows of sessions that were accepted, with all their columns and checksums. */
function inserted(
  parameters: Parameters,
  table: 'log' | 'journal' | 'queued' | 'receipt' | 'native',
  rows: readonly Row[],
  {
    changed = {},
    join = '',
    onConflict = '',
  }: { changed?: Record<string, string>; join?: string; onConflict?: string } = {},
): string | undefined {
  if (rows.length === 0) return undefined
  const given = givenRows(parameters, table, rows)
  const columns = { ...(!isFree(table) && { session: 'd.n' }), ...changed }
  const insert = insertOf(table, given, `${given.from} ${OWNER} ${join}`, columns)
  // In their order, whichever way the planner joins them: ids of the log are the order of commits.
  return `added_${table} AS (${insert} ORDER BY g.place ${onConflict})`
}

/** The rows that batches have, each with the session whose commit it belongs to. */
function eachBatch<T extends object>(
  runs: readonly PostgresRun[],
  rowsOf: (batch: PostgresRun['batches'][number]) => readonly T[],
): (T & { of: string })[] {
  return runs.flatMap(({ session: of, batches }) =>
    batches.flatMap((batch) => rowsOf(batch).map((row) => ({ ...row, of }))),
  )
}

/** Rows of sessions, each with its session. */
function eachRun<T extends object>(runs: readonly PostgresRun[], rowsOf: (run: PostgresRun) => readonly T[]) {
  return runs.flatMap((run) => rowsOf(run).map((row) => ({ ...row, session: run.session, of: run.session })))
}
