import { SCHEMA_VERSION } from '../../model/index.ts'
import { COLUMNS, COUNTS, chargeOf } from '../daily-usage.ts'
import type { Row } from '../row.ts'
import { sumOf } from '../tables.ts'
import { insertFacts } from './access.ts'
import { toColumn } from './columns.ts'
import { givenRows, insertOf, nowSql, Parameters, PIECE } from './parameters.ts'
import { begun, continued, journalOf, leavingQueue, type PostgresRun, queueOf } from './session-change.ts'
import { exact, rowSum, SUMS } from './table-rows.ts'

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
  const keys = eachBatch(runs, (batch) => batch.receipts.map(({ id: key }) => ({ key })))
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
    const rows = runs.flatMap(({ session, batches }) =>
      batches.flatMap(({ log }) => log.map((row) => ({ ...row, session, version }))),
    )
    return inserted(parameters, 'log', rows)
  },

  function journal(parameters, runs) {
    const rows = runs.flatMap((run) => journalOf(run).map((row) => ({ ...row, session: run.session })))
    return inserted(parameters, 'journal', rows)
  },

  function records(parameters, runs) {
    const rows = runs.flatMap(({ session, batches }) => {
      const record = batches.findLast(({ record }) => record)?.record
      if (!record) return []
      const [principal, status] = [toColumn(record.principal), toColumn(record.status)]
      const sum = sumOf(SUMS.session.record_sum, { ...record, session })
      return {
        id: toColumn(session),
        principal,
        status,
        asking: record.asking,
        sum,
        ...parameters.piece(record.record),
      }
    })
    if (rows.length === 0) return undefined
    const columns = {
      id: 'text',
      principal: 'text',
      status: 'text',
      asking: 'boolean',
      sum: 'bigint',
      pos: 'int',
      bytes: 'int',
    }
    return `recorded AS (INSERT INTO @record (session, principal, status, asking, sum, body)
      SELECT d.n, r.principal, r.status, r.asking, r.sum, ${PIECE.text('r')}
      FROM ${parameters.rows('r', columns, rows)} JOIN done d ON d.id = r.id
      ON CONFLICT (session) DO UPDATE SET principal = excluded.principal, status = excluded.status,
      asking = excluded.asking, sum = excluded.sum, body = excluded.body)`
  },

  function natives(parameters, runs) {
    const rows = eachBatch(runs, ({ record }) =>
      record
        ? record.natives.map((native) => ({
            native: toColumn(native),
            principal: toColumn(record.principal),
          }))
        : [],
    )
    if (rows.length === 0) return undefined
    return `named AS (INSERT INTO @native (id, principal) SELECT DISTINCT v.native, v.principal
      FROM ${parameters.rows('v', { id: 'text', native: 'text', principal: 'text' }, rows)} JOIN done d ON d.id = v.id
      ON CONFLICT DO NOTHING)`
  },

  function queued(parameters, runs) {
    const rows = runs.flatMap((run) => queueOf(run).queued.map((row) => ({ ...row, session: run.session })))
    return inserted(parameters, 'queued', rows)
  },

  function dequeued(_, runs) {
    if (runs.every((run) => queueOf(run).dequeued.length === 0)) return undefined
    return `left_queue AS (DELETE FROM @queued q USING leaving x, done d
      WHERE d.id = x.id AND q.session = d.n AND q.turn = x.turn)`
  },

  function receipts(parameters, runs) {
    const rows = eachBatch(runs, ({ receipts }) =>
      receipts.map((row) => {
        const { id: key, session, at, body } = row
        const sum = sumOf(SUMS.receipt.sum, row)
        return { key, session: toColumn(session), at, sum, ...parameters.piece(body) }
      }),
    )
    if (rows.length === 0) return undefined
    const columns = {
      id: 'text',
      key: 'text',
      session: 'text',
      at: 'float8',
      sum: 'bigint',
      pos: 'int',
      bytes: 'int',
    }
    // A server that was suspended is behind the others until it compares its time with theirs.
    const at = 'greatest(k.at, t.ms)'
    return `keyed AS (INSERT INTO @receipt (id, session, at, at_sum, sum, body)
      SELECT k.key, k.session, ${at}, ${rowSum(['k.key', exact(at)])}, k.sum, ${PIECE.text('k')}
      FROM @open_time t, ${parameters.rows('k', columns, rows)} JOIN done d ON d.id = k.id)`
  },

  function blobs(parameters, runs) {
    const rows = eachBatch(runs, ({ session, blobs }) =>
      blobs.map((id) => ({ blob: toColumn(id), sum: sumOf(SUMS.blob.owner_sum, { session, id }) })),
    )
    if (rows.length === 0) return undefined
    const columns = { id: 'text', blob: 'text', sum: 'bigint' }
    return `owned AS (UPDATE @blob b SET session = d.n, owner_sum = w.sum
      FROM ${parameters.rows('w', columns, rows)} JOIN done d ON d.id = w.id
      WHERE b.id = w.blob AND b.session IS NULL)`
  },

  function facts(parameters, runs, now) {
    const facts = runs.flatMap(({ session: of, batches }) =>
      batches.flatMap((batch) => batch.facts.map((fact) => ({ ...fact, of: toColumn(of) }))),
    )
    if (facts.length === 0) return undefined
    return `audited AS (${insertFacts(parameters, facts, now, 'JOIN done d ON d.id = f.id')})`
  },

  function charges(parameters, runs) {
    const names = ['principal', 'agent', 'model', 'day', 'sessions', 'turns', ...COLUMNS] as const
    const rows = eachBatch(runs, ({ charges }) =>
      charges.map((charge) => {
        const all = chargeOf(charge)
        const values = [...all.slice(0, 3).map((name) => toColumn(String(name))), ...all.slice(3)]
        return Object.fromEntries(names.map((name, index) => [name, values[index] ?? null]))
      }),
    )
    if (rows.length === 0) return undefined
    const types = Object.fromEntries(names.map((name) => [name, TEXTS.has(name) ? 'text' : 'float8']))
    const sum = (name: string) => `sum(c."${name}")`
    const add = (name: string) =>
      `"${name}" = coalesce(s."${name}" + excluded."${name}", s."${name}", excluded."${name}")`
    const columns = names.map((name) => `"${name}"`).join(', ')
    // In one order, so that two servers that charge the same principals do not wait for each other.
    return `charged AS (INSERT INTO @spent AS s (${columns})
      SELECT ${ACCOUNT}, ${['sessions', 'turns', ...COUNTS].map(sum).join(', ')}, max(c.partial)
      FROM ${parameters.rows('c', { id: 'text', ...types }, rows)} JOIN done d ON d.id = c.id
      GROUP BY ${ACCOUNT} ORDER BY ${ACCOUNT}
      ON CONFLICT (principal, agent, model, day) DO UPDATE SET sessions = s.sessions + excluded.sessions,
      turns = s.turns + excluded.turns, ${COUNTS.map(add).join(', ')}, partial = coalesce(s.partial, excluded.partial))`
  },
]

const ACCOUNT = 'c.principal, c.agent, c.model, c.day'
const TEXTS: ReadonlySet<string> = new Set(['principal', 'agent', 'model', 'day'])

/** The rows of sessions that were accepted, with all their columns and checksums. */
function inserted(
  parameters: Parameters,
  table: 'log' | 'journal' | 'queued',
  rows: readonly Row[],
): string | undefined {
  if (rows.length === 0) return undefined
  const given = givenRows(parameters, table, rows)
  const from = `${given.from} JOIN done d ON d.id = g.session`
  // In their order, whichever way the planner joins them: ids of the log are the order of commits.
  return `added_${table} AS (${insertOf(table, given, from, { session: 'd.n' })} ORDER BY g.place)`
}

/** The rows that batches have, each with the id of its session. */
function eachBatch<T extends object>(
  runs: readonly PostgresRun[],
  rowsOf: (batch: PostgresRun['batches'][number]) => readonly T[],
): (T & { id: string })[] {
  return runs.flatMap(({ session, batches }) => {
    const id = toColumn(session)
    return batches.flatMap((batch) => rowsOf(batch).map((row) => ({ ...row, id })))
  })
}
