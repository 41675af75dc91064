import type { CopyKeys, CopyRows, Part, PartReaders, PartWriter, PartWriters } from '../../copy/copyable.ts'
import { COLUMNS } from '../../daily-usage.ts'
import { integer, type Row, text } from '../../row.ts'
import { storageFailed } from '../../storage-failed.ts'
import { fromColumn, toColumn } from '../columns.ts'
import type { Database } from '../database.ts'
import { Parameters, PIECE } from '../parameters.ts'
import { sums } from '../prepared-batch.ts'
import { COUNTER_TYPES } from '../statement.ts'

type Rows<P extends Part> = readonly CopyRows[P][]

/** A statement that adds rows, with the parameters that it needs. */
type Insert<P extends Part> = (parameters: Parameters, rows: Rows<P>) => string

const OWNER = 'JOIN @session s ON s.n = t.session'
const PIECE_COLUMNS = { pos: 'int', bytes: 'int' }

/** Adds rows with the checksums of this store. Each page is one statement, which can be repeated. */
export function writeParts(database: Database, readers: PartReaders): PartWriters {
  const writer = <P extends Part>(
    part: P,
    insert: Insert<P>,
    last: () => Promise<CopyKeys[P] | undefined> = async () => undefined,
  ): PartWriter<CopyRows[P], CopyKeys[P]> => ({
    ...readers[part],
    last,
    add: async (rows) => {
      const parameters = new Parameters()
      const sql = insert(parameters, rows)
      await write(database, sql, parameters.finish())
    },
  })
  const keys = lastKeys(database)
  return {
    sessions: writer('sessions', addSessions, keys.sessions),
    log: writer('log', addCommits, keys.log),
    journal: writer('journal', addFrames, keys.journal),
    queued: writer('queued', addPrompts, keys.queued),
    blobs: writer('blobs', addBlobs, keys.blobs),
    receipts: writer('receipts', addReceipts, keys.receipts),
    natives: writer('natives', addNatives),
    usage: writer('usage', addUsage),
  }
}

async function write(database: Database, sql: string, values: readonly unknown[]): Promise<void> {
  try {
    await database.persist(() => database.transaction(0, (query) => query(sql, values)))
  } catch (thrown) {
    throw storageFailed('cannot write to the store', thrown)
  }
}

function lastKeys(database: Database) {
  const last = <T>(sql: string, keyOf: (row: Row) => T) => {
    return async (): Promise<T | undefined> => {
      // Without a timeout: the last commit is found by a scan.
      const [row] = await database.transaction(0, (query) => query(`${sql} LIMIT 1`))
      return row && keyOf(row)
    }
  }
  const session = (row: Row) => fromColumn(text(row, 'owner'))
  const of = (table: string) => `FROM @${table} t ${OWNER} ORDER BY`
  return {
    sessions: last('SELECT id AS owner FROM @session ORDER BY n DESC', (row) => ({ id: session(row) })),
    log: last(`SELECT s.id AS owner, t.first ${of('log')} t.id DESC`, (row) => ({
      session: session(row),
      first: integer(row, 'first'),
    })),
    journal: last(`SELECT s.id AS owner, t.last ${of('journal')} t.session DESC, t.last DESC`, (row) => ({
      session: session(row),
      last: integer(row, 'last'),
    })),
    queued: last(`SELECT s.id AS owner, t.turn ${of('queued')} t.session DESC, t.turn DESC`, (row) => ({
      session: session(row),
      turn: integer(row, 'turn'),
    })),
    blobs: last(`SELECT s.id AS owner, t.id ${of('blob')} t.session DESC, t.id DESC`, (row) => ({
      session: session(row),
      id: text(row, 'id'),
    })),
    receipts: last('SELECT id FROM @receipt ORDER BY id DESC', (row) => ({ id: text(row, 'id') })),
  }
}

/** Ordered rows: the statement sorts by `place` before it assigns numbers. */
function inOrder<T extends object>(rows: readonly T[]): (T & { place: number })[] {
  return rows.map((row, place) => ({ ...row, place }))
}

function addSessions(parameters: Parameters, rows: Rows<'sessions'>): string {
  const sessions = inOrder(
    rows.map(({ id, fence, head, at, earliest, earliestFrame, frameCounts }) => {
      const { frames, mapped, unmapped, malformed, oversized } = frameCounts?.coverage ?? {}
      return {
        id: toColumn(id),
        fence,
        head,
        at,
        earliest,
        earliest_frame: earliestFrame,
        last_frame: frameCounts?.frames ?? null,
        frames: frames ?? null,
        mapped: mapped ?? null,
        unmapped: unmapped ?? null,
        malformed: malformed ?? null,
        oversized: oversized ?? null,
      }
    }),
  )
  const records = rows.flatMap(({ id, record }) => {
    if (!record) return []
    const { principal, status, asking, text } = record
    const names = { principal: toColumn(principal), status: toColumn(status) }
    return { id: toColumn(id), ...names, asking, sum: sums.record(id, record), ...parameters.piece(text) }
  })
  const columns = {
    fence: 'bigint',
    head: 'bigint',
    earliest: 'bigint',
    earliest_frame: 'bigint',
    ...COUNTER_TYPES,
  }
  const names = Object.keys(columns)
  const given = parameters.rows('i', { id: 'text', at: 'float8', place: 'int', ...columns }, sessions)
  const recorded = parameters.rows(
    'r',
    { id: 'text', principal: 'text', status: 'text', asking: 'boolean', sum: 'bigint', ...PIECE_COLUMNS },
    records,
  )
  return `WITH added AS (INSERT INTO @session (id, at, writes, ${names.join(', ')})
      SELECT i.id, i.at, 1, ${names.map((name) => `i.${name}`).join(', ')} FROM ${given} ORDER BY i.place
      ON CONFLICT (id) DO NOTHING RETURNING n, id)
    INSERT INTO @record (session, principal, status, asking, sum, body)
      SELECT a.n, r.principal, r.status, r.asking, r.sum, ${PIECE.text('r')}
      FROM ${recorded} JOIN added a ON a.id = r.id`
}

/** Without `xact`: the feed of all sessions begins after a copy, under a new name. */
function addCommits(parameters: Parameters, rows: Rows<'log'>): string {
  const given = parameters.rows(
    'l',
    {
      id: 'text',
      first: 'bigint',
      last: 'bigint',
      at: 'float8',
      version: 'int',
      sum: 'bigint',
      place: 'int',
      ...PIECE_COLUMNS,
    },
    inOrder(
      rows.map((row) => {
        const { session, first, last, at, version, text } = row
        const sum = sums.log(session, row, version)
        return { id: toColumn(session), first, last, at, version, sum, ...parameters.piece(text) }
      }),
    ),
  )
  return `INSERT INTO @log (session, first, last, at, version, sum, body, xact)
    SELECT s.n, l.first, l.last, l.at, l.version, l.sum, ${PIECE.text('l')}, NULL
    FROM ${given} JOIN @session s ON s.id = l.id ORDER BY l.place ON CONFLICT DO NOTHING`
}

function addFrames(parameters: Parameters, rows: Rows<'journal'>): string {
  const given = parameters.rows(
    'j',
    { id: 'text', last: 'bigint', encoding: 'int', sum: 'bigint', ...PIECE_COLUMNS },
    rows.map((row) => {
      const { session, last, encoding, body } = row
      return {
        id: toColumn(session),
        last,
        encoding,
        sum: sums.journal(session, row),
        ...parameters.piece(body),
      }
    }),
  )
  return `INSERT INTO @journal (session, last, encoding, sum, body)
    SELECT s.n, j.last, j.encoding, j.sum, ${PIECE.bytes('j')}
    FROM ${given} JOIN @session s ON s.id = j.id ON CONFLICT DO NOTHING`
}

function addPrompts(parameters: Parameters, rows: Rows<'queued'>): string {
  const whole = { wholeSum: 'bigint', wholePos: 'int', wholeBytes: 'int' }
  const given = parameters.rows(
    'q',
    { id: 'text', turn: 'bigint', sum: 'bigint', ...PIECE_COLUMNS, ...whole },
    rows.map((row) => {
      const { session, turn, text, whole } = row
      const piece = whole === undefined ? undefined : parameters.piece(whole)
      return {
        id: toColumn(session),
        turn,
        sum: sums.queued(session, row),
        ...parameters.piece(text),
        wholeSum: whole === undefined ? null : sums.queued(session, { turn, text: whole }),
        wholePos: piece?.pos ?? null,
        wholeBytes: piece?.bytes ?? null,
      }
    }),
  )
  return `INSERT INTO @queued (session, turn, sum, body, whole_sum, whole)
    SELECT s.n, q.turn, q.sum, ${PIECE.text('q')}, q."wholeSum", ${PIECE.text('q', '"wholePos"', '"wholeBytes"')}
    FROM ${given} JOIN @session s ON s.id = q.id ON CONFLICT DO NOTHING`
}

/** The content was stored before, and belonged to no session yet. */
function addBlobs(parameters: Parameters, rows: Rows<'blobs'>): string {
  const given = parameters.rows(
    'w',
    { id: 'text', blob: 'text' },
    rows.map(({ session, id }) => ({ id: toColumn(session), blob: id })),
  )
  return `UPDATE @blob b SET session = s.n FROM ${given} JOIN @session s ON s.id = w.id
    WHERE b.id = w.blob AND b.session IS NULL AND $1::bytea IS NOT NULL`
}

function addReceipts(parameters: Parameters, rows: Rows<'receipts'>): string {
  const given = parameters.rows(
    'k',
    { id: 'text', session: 'text', at: 'float8', sum: 'bigint', ...PIECE_COLUMNS },
    rows.map((row) => {
      const { id, session, at, text } = row
      return { id, session: toColumn(session), at, sum: sums.receipt(row), ...parameters.piece(text) }
    }),
  )
  return `INSERT INTO @receipt (id, session, at, sum, body)
    SELECT k.id, k.session, k.at, k.sum, ${PIECE.text('k')} FROM ${given} ON CONFLICT DO NOTHING`
}

function addNatives(parameters: Parameters, rows: Rows<'natives'>): string {
  const given = parameters.rows(
    'v',
    { id: 'text', principal: 'text' },
    rows.map(({ id, principal }) => ({ id: toColumn(id), principal: toColumn(principal) })),
  )
  return `INSERT INTO @native (id, principal) SELECT v.id, v.principal FROM ${given}
    WHERE $1::bytea IS NOT NULL ON CONFLICT DO NOTHING`
}

function addUsage(parameters: Parameters, rows: Rows<'usage'>): string {
  const texts = ['principal', 'agent', 'model', 'day']
  const names = [...texts, 'sessions', 'turns', ...COLUMNS]
  const types = Object.fromEntries(names.map((name) => [name, texts.includes(name) ? 'text' : 'float8']))
  const given = parameters.rows(
    'c',
    types,
    rows.map(({ values }) =>
      Object.fromEntries(
        names.map((name, index) => {
          const value = values[index] ?? null
          return [name, typeof value === 'string' && name !== 'day' ? toColumn(value) : value]
        }),
      ),
    ),
  )
  const columns = names.map((name) => `"${name}"`).join(', ')
  const updates = names.slice(texts.length).map((name) => `"${name}" = excluded."${name}"`)
  return `INSERT INTO @spent (${columns}) SELECT ${names.map((name) => `c."${name}"`).join(', ')} FROM ${given}
    WHERE $1::bytea IS NOT NULL ON CONFLICT (principal, agent, model, day) DO UPDATE SET ${updates.join(', ')}`
}
