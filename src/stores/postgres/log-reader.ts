import { type Entry, SCHEMA_VERSION } from '../../model/index.ts'
import { cursorGone } from '../cursor-gone.ts'
import { damaged } from '../damaged.ts'
import { decodeJournal, splitFrames } from '../journal-body.ts'
import { BETWEEN } from '../log-rows.ts'
import { bytes, integer, type Row, text } from '../row.ts'
import type { JournalFrame } from '../store.ts'
import type { Upcasts } from '../upcast.ts'
import { upcastEntry } from '../upcast-entry.ts'
import { toColumn } from './columns.ts'
import type { Database } from './database.ts'
import { sums } from './prepared-batch.ts'

/** The rows of a log with the entries after `$2`, up to `$3` of them. */
const ROWS = `SELECT first, last, version, sum, body, octet_length(body) AS bytes,
    sum(octet_length(body)) OVER (ORDER BY first) - octet_length(body) AS before
  FROM @log WHERE session = s.n AND first <= $2::bigint + $3::bigint AND first >=
    coalesce((SELECT max(first) FROM @log WHERE session = s.n AND first <= $2::bigint + 1), 0)`

/** Up to `$4` bytes; always the first row. */
const FITS = 'before = 0 OR before + bytes <= $4::bigint'

const READ = `SELECT s.head, s.earliest, l.first, l.last, l.version, l.sum, l.body FROM @session s
  LEFT JOIN LATERAL (SELECT * FROM (${ROWS}) x WHERE ${FITS}) l ON s.head > $2::bigint
  WHERE s.id = $1 ORDER BY l.first`

const SIZE = `SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM @session s,
  LATERAL (SELECT * FROM (${ROWS}) x WHERE ${FITS}) l WHERE s.id = $1 AND s.head > $2::bigint`

const JOURNAL = `SELECT s.earliest_frame AS earliest, j.last, j.encoding, j.sum, j.body FROM @session s
  LEFT JOIN LATERAL (SELECT * FROM (
    SELECT last, encoding, sum, body, octet_length(body) AS bytes,
      sum(octet_length(body)) OVER (ORDER BY last) - octet_length(body) AS before
    FROM @journal WHERE session = s.n AND last > $2::bigint ORDER BY last LIMIT $3::bigint) x
  WHERE ${FITS}) j ON true WHERE s.id = $1 ORDER BY j.last`

/** Reads logs and journals from the database. Refuses damaged rows. */
export class LogReader {
  readonly #database: Database
  readonly #upcasts: Upcasts

  constructor(database: Database, upcasts: Upcasts) {
    this.#database = database
    this.#upcasts = upcasts
  }

  async head(session: string): Promise<number> {
    const [row] = await this.#database.read('SELECT head FROM @session WHERE id = $1', [toColumn(session)])
    return row ? integer(row, 'head') : 0
  }

  async read(session: string, after: number, limit: number, maxBytes: number): Promise<Entry[]> {
    const texts = await this.#texts(session, after, limit, maxBytes)
    const isToday = texts.every(({ version }) => version === SCHEMA_VERSION)
    if (isToday) return JSON.parse(`[${texts.map(({ text }) => text).join(',')}]`)
    return texts.map((one) => this.#today(one))
  }

  async readTexts(session: string, after: number, limit: number, maxBytes: number): Promise<string[]> {
    const texts = await this.#texts(session, after, limit, maxBytes)
    return texts.map((one) => (one.version === SCHEMA_VERSION ? one.text : JSON.stringify(this.#today(one))))
  }

  async readSize(session: string, after: number, limit: number, maxBytes: number): Promise<number> {
    const [row] = await this.#database.read(SIZE, [toColumn(session), after, limit, maxBytes])
    return integer(row ?? {}, 'bytes')
  }

  async readJournal(
    session: string,
    after: number,
    limit: number,
    maxBytes: number,
  ): Promise<JournalFrame[]> {
    const values = [toColumn(session), after, limit, maxBytes]
    const rows = await this.#database.read(JOURNAL, values)
    const [first] = rows
    if (first && after + 1 < integer(first, 'earliest'))
      throw cursorGone('frames', integer(first, 'earliest'))
    const found: JournalFrame[] = []
    let chars = 0
    for (const row of rows) {
      if (row.last === null) continue
      for (const frame of framesIn(session, row)) {
        if (frame.frame <= after) continue
        chars += frame.text.length
        if (found.length === limit || (chars > maxBytes && found.length > 0)) return found
        found.push(frame)
      }
    }
    return found
  }

  /** The entries of a row of the log, converted from older versions. */
  entriesIn(session: string, row: Row): Entry[] {
    const version = integer(row, 'version')
    return textsIn(session, row).map((text) => this.#today({ text, version }))
  }

  async #texts(session: string, after: number, limit: number, maxBytes: number): Promise<Text[]> {
    const rows = await this.#database.read(READ, [toColumn(session), after, limit, maxBytes])
    const found: Text[] = []
    let chars = 0
    let next = after + 1
    for (const row of rows) {
      const first = checkFollows(session, row, next)
      if (first === undefined) return found
      const version = integer(row, 'version')
      for (const text of textsIn(session, row).slice(next - first)) {
        chars += text.length
        if (found.length === limit || (chars > maxBytes && found.length > 0)) return found
        found.push({ text, version })
      }
      next = integer(row, 'last') + 1
    }
    return found
  }

  #today({ text, version }: Text): Entry {
    const entry = JSON.parse(text)
    return version === SCHEMA_VERSION ? entry : upcastEntry(entry, version, this.#upcasts)
  }
}

interface Text {
  text: string
  version: number
}

/** The first entry of a row, which must have the next one; undefined at the head. */
function checkFollows(session: string, row: Row, next: number): number | undefined {
  const [head, earliest] = [integer(row, 'head'), integer(row, 'earliest')]
  const first = row.first === null ? undefined : integer(row, 'first')
  if (next > head) return undefined
  if (next < earliest) throw cursorGone('entries', earliest)
  if (first === undefined || first > next || integer(row, 'last') < next) {
    throw damaged('the log', { session, first: next, last: (first ?? head + 1) - 1 })
  }
  return first
}

function textsIn(session: string, row: Row): string[] {
  const [first, last, body] = [integer(row, 'first'), integer(row, 'last'), text(row, 'body')]
  const sum = sums.log(session, { first, last, at: 0, text: body }, integer(row, 'version'))
  const texts = body.split(BETWEEN)
  if (row.sum !== sum || texts.length !== last - first + 1) throw damaged('the log', { session, first, last })
  return texts
}

function framesIn(session: string, row: Row): JournalFrame[] {
  const [last, encoding, body] = [integer(row, 'last'), integer(row, 'encoding'), bytes(row, 'body')]
  if (row.sum !== sums.journal(session, { last, encoding, body }))
    throw damaged('the raw frames', { session })
  return splitFrames(decodeJournal({ encoding, body }))
}
