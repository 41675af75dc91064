import { SCHEMA_VERSION } from '../../model/index.ts'
import { COLUMNS, COUNTS, chargeOf } from '../daily-usage.ts'
import { toColumn } from './columns.ts'
import { Parameters, PIECE } from './parameters.ts'
import { sums } from './prepared-batch.ts'
import type { Run } from './run.ts'

export interface Statement {
  sql: string
  values: unknown[]
}

const COUNTERS = ['last_frame', 'frames', 'mapped', 'unmapped', 'malformed', 'oversized'] as const
/** The columns of the frame counts. */
export const COUNTER_TYPES = {
  last_frame: 'bigint',
  frames: 'bigint',
  mapped: 'bigint',
  unmapped: 'bigint',
  malformed: 'bigint',
  oversized: 'bigint',
}

/**
 * One statement that commits all runs: the rows of their sessions are changed where fence, head and count of writes are
 * the expected ones, and everything else is joined with these rows. So it is a transaction without a second round
 * trip, and a run that is refused leaves nothing behind. It answers with the sessions that were accepted.
 */
export function commitStatement(runs: readonly Run[], now: number | null): Statement {
  const parameters = new Parameters()
  const [taken, isFree] = takenKeys(parameters, runs)
  const parts = [
    ...taken,
    begun(parameters, runs, isFree),
    continued(parameters, runs, isFree),
    'done AS (SELECT n, id FROM begun UNION ALL SELECT n, id FROM continued)',
    ...PARTS.flatMap((part) => part(parameters, runs, now) ?? []),
  ]
  const sql = `WITH ${parts.join(',\n')}\nSELECT id FROM done WHERE $1::bytea IS NOT NULL`
  return { sql, values: parameters.finish() }
}

/** Keys that exist already refuse their session; one that another server takes at this moment fails the statement. */
function takenKeys(parameters: Parameters, runs: readonly Run[]): [parts: string[], isFree: string] {
  const keys = eachBatch(runs, (batch) => batch.receipts.map(({ id: key }) => ({ key })))
  if (keys.length === 0) return [[], '']
  const rows = parameters.rows('k', { id: 'text', key: 'text' }, keys)
  return [
    [`taken AS (SELECT k.id FROM ${rows} JOIN @receipt r ON r.id = k.key)`],
    ' AND NOT EXISTS (SELECT FROM taken WHERE taken.id = i.id)',
  ]
}

function begun(parameters: Parameters, runs: readonly Run[], isFree: string): string {
  const rows = runs
    .filter(({ place }) => place === undefined)
    .map((run) => ({
      ...sessionRow(run),
      owner: run.terms && !run.releases ? toColumn(run.terms.owner) : null,
      at: run.at ?? 0,
    }))
  const columns = {
    id: 'text',
    fence: 'bigint',
    owner: 'text',
    added: 'bigint',
    at: 'float8',
    ...COUNTER_TYPES,
  }
  return `begun AS (INSERT INTO @session (id, fence, owner, writes, head, at, ${COUNTERS.join(', ')})
    SELECT i.id, i.fence, i.owner, 1, i.added, i.at, ${COUNTERS.map((name) => `i.${name}`).join(', ')}
    FROM ${parameters.rows('i', columns, rows)} WHERE true${isFree} ON CONFLICT (id) DO NOTHING RETURNING n, id)`
}

function continued(parameters: Parameters, runs: readonly Run[], isFree: string): string {
  const rows = runs.flatMap((run) => {
    const { place, after, releases, at } = run
    if (!place) return []
    return { ...sessionRow(run), writes: place.writes, after: after ?? null, releases, at: at ?? null }
  })
  const columns = {
    id: 'text',
    fence: 'bigint',
    writes: 'bigint',
    after: 'bigint',
    added: 'bigint',
    at: 'float8',
    releases: 'boolean',
    ...COUNTER_TYPES,
  }
  const counters = COUNTERS.map((name) => `${name} = coalesce(i.${name}, s.${name})`)
  return `continued AS (UPDATE @session s SET writes = s.writes + 1, head = s.head + i.added, at = coalesce(i.at, s.at),
    owner = CASE WHEN i.releases THEN NULL ELSE s.owner END, ${counters.join(', ')}
    FROM ${parameters.rows('i', columns, rows)}
    WHERE s.id = i.id AND s.fence = i.fence AND s.writes = i.writes AND (i.after IS NULL OR s.head = i.after)${isFree}
    RETURNING s.n, s.id)`
}

function sessionRow(run: Run) {
  const counts = run.batches.findLast(({ frameCounts }) => frameCounts)?.frameCounts
  const { frames, mapped, unmapped, malformed, oversized } = counts?.coverage ?? {}
  return {
    id: toColumn(run.session),
    fence: run.fenceAfter,
    added: run.added,
    last_frame: counts?.frames ?? null,
    frames: frames ?? null,
    mapped: mapped ?? null,
    unmapped: unmapped ?? null,
    malformed: malformed ?? null,
    oversized: oversized ?? null,
  }
}

type Part = (parameters: Parameters, runs: readonly Run[], now: number | null) => string | undefined

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
    const rows = eachBatch(runs, ({ session, rows }) =>
      rows.map((row) => {
        const { first, last, at, text } = row
        return { first, last, at, sum: sums.log(session, row, SCHEMA_VERSION), ...parameters.piece(text) }
      }),
    )
    if (rows.length === 0) return undefined
    const columns = {
      id: 'text',
      first: 'bigint',
      last: 'bigint',
      at: 'float8',
      sum: 'bigint',
      pos: 'int',
      bytes: 'int',
    }
    return `logged AS (INSERT INTO @log (session, first, last, at, version, sum, body)
      SELECT d.n, l.first, l.last, l.at, ${SCHEMA_VERSION}, l.sum, ${PIECE.text('l')}
      FROM ${parameters.rows('l', columns, rows)} JOIN done d ON d.id = l.id)`
  },

  function journal(parameters, runs) {
    const rows = eachBatch(runs, ({ session, journal }) => {
      if (!journal) return []
      const { last, encoding, body } = journal
      return [{ last, encoding, sum: sums.journal(session, journal), ...parameters.piece(body) }]
    })
    if (rows.length === 0) return undefined
    const columns = { id: 'text', last: 'bigint', encoding: 'int', sum: 'bigint', pos: 'int', bytes: 'int' }
    return `framed AS (INSERT INTO @journal (session, last, encoding, sum, body)
      SELECT d.n, j.last, j.encoding, j.sum, ${PIECE.bytes('j')}
      FROM ${parameters.rows('j', columns, rows)} JOIN done d ON d.id = j.id)`
  },

  function records(parameters, runs) {
    const rows = runs.flatMap(({ session, batches }) => {
      const record = batches.findLast(({ record }) => record)?.record
      if (!record) return []
      const [principal, status] = [toColumn(record.principal), toColumn(record.status)]
      const sum = sums.record(session, record)
      return {
        id: toColumn(session),
        principal,
        status,
        asking: record.asking,
        sum,
        ...parameters.piece(record.text),
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
    const rows = runs.flatMap(({ session, queue }) =>
      queue.queued.map((row) => {
        const sum = sums.queued(session, row)
        const { turn, text, whole } = row
        const wholeSum = whole === undefined ? null : sums.queued(session, { turn, text: whole })
        const { pos: wholePos, bytes: wholeBytes } =
          whole === undefined ? { pos: null, bytes: null } : parameters.piece(whole)
        const piece = parameters.piece(text)
        return { id: toColumn(session), turn, sum, ...piece, wholeSum, wholePos, wholeBytes }
      }),
    )
    if (rows.length === 0) return undefined
    const whole = { wholeSum: 'bigint', wholePos: 'int', wholeBytes: 'int' }
    const columns = { id: 'text', turn: 'bigint', sum: 'bigint', pos: 'int', bytes: 'int', ...whole }
    return `waiting AS (INSERT INTO @queued (session, turn, sum, body, whole_sum, whole)
      SELECT d.n, q.turn, q.sum, ${PIECE.text('q')}, q."wholeSum",
      ${PIECE.text('q', '"wholePos"', '"wholeBytes"')} FROM ${parameters.rows('q', columns, rows)}
      JOIN done d ON d.id = q.id)`
  },

  function dequeued(parameters, runs) {
    const rows = runs.flatMap(({ session, queue }) =>
      queue.dequeued.map((turn) => ({ id: toColumn(session), turn })),
    )
    if (rows.length === 0) return undefined
    return `left_queue AS (DELETE FROM @queued q USING ${parameters.rows('x', { id: 'text', turn: 'bigint' }, rows)},
      done d WHERE d.id = x.id AND q.session = d.n AND q.turn = x.turn)`
  },

  function receipts(parameters, runs) {
    const rows = eachBatch(runs, ({ receipts }) =>
      receipts.map((row) => {
        const { id: key, session, at, text } = row
        return { key, session: toColumn(session), at, sum: sums.receipt(row), ...parameters.piece(text) }
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
    return `keyed AS (INSERT INTO @receipt (id, session, at, sum, body)
      SELECT k.key, k.session, greatest(k.at, t.ms), k.sum, ${PIECE.text('k')}
      FROM @open_time t, ${parameters.rows('k', columns, rows)} JOIN done d ON d.id = k.id)`
  },

  function blobs(parameters, runs) {
    const rows = eachBatch(runs, ({ blobs }) => blobs.map((blob) => ({ blob: toColumn(blob) })))
    if (rows.length === 0) return undefined
    return `owned AS (UPDATE @blob b SET session = d.n
      FROM ${parameters.rows('w', { id: 'text', blob: 'text' }, rows)} JOIN done d ON d.id = w.id
      WHERE b.id = w.blob AND b.session IS NULL)`
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

/** The clock of the database in milliseconds; a test has its own. */
export function nowSql(parameters: Pick<Parameters, 'add'>, now: number | null): string {
  return `coalesce(${parameters.add(now, 'float8')}, extract(epoch FROM clock_timestamp())::float8 * 1000)`
}

/** The rows that batches have, each with the id of its session. */
function eachBatch<T extends object>(
  runs: readonly Run[],
  rowsOf: (batch: Run['batches'][number]) => readonly T[],
): (T & { id: string })[] {
  return runs.flatMap(({ session, batches }) => {
    const id = toColumn(session)
    return batches.flatMap((batch) => rowsOf(batch).map((row) => ({ ...row, id })))
  })
}
