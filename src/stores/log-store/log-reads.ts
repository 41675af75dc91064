import { Entry, type MainstemError, SCHEMA_VERSION } from '../../model/index.ts'
import { decodeJournal, isNextFrame, splitFrames } from '../journal-body.ts'
import { BETWEEN } from '../log-rows.ts'
import { cursorGone, damaged } from '../refusals.ts'
import { bytes, integer, type Row, text } from '../row.ts'
import { areNamed, typeIn } from '../row-types.ts'
import type { JournalFrame, TypedEntries, TypeQuery } from '../store.ts'
import { damagedPart, type Sums } from '../tables.ts'
import { type Upcasts, upcast } from '../upcast.ts'
import type { Bounds, RowSource } from './rows.ts'

interface Text {
  text: string
  version: number
}

/** Reads logs and journals from the rows of a database. Refuses damaged ones, and cursors before the first kept row. */
export class LogReads {
  readonly #rows: RowSource
  readonly #upcasts: Upcasts

  constructor(rows: RowSource, upcasts: Upcasts) {
    this.#rows = rows
    this.#upcasts = upcasts
  }

  /** The last seq; 0 if there is no such log. */
  async head(session: string): Promise<number> {
    const [row] = await this.#rows.counters([session])
    return row ? headIn(this.#rows.sums, session, row) : 0
  }

  async read(session: string, bounds: Bounds): Promise<Entry[]> {
    const texts = await this.#texts(session, bounds)
    const isToday = texts.every(({ version }) => version === SCHEMA_VERSION)
    if (isToday) return JSON.parse(`[${texts.map(({ text }) => text).join(',')}]`)
    return texts.map((one) => this.#today(one))
  }

  async readTexts(session: string, bounds: Bounds): Promise<string[]> {
    const texts = await this.#texts(session, bounds)
    return texts.map((one) => (one.version === SCHEMA_VERSION ? one.text : JSON.stringify(this.#today(one))))
  }

  async readTypes(session: string, query: TypeQuery): Promise<TypedEntries> {
    const { types, after, last, limit } = query
    const page = areNamed(types) ? await this.#rows.typed(session, query) : undefined
    if (!page) return { entries: [], end: after }
    checkCounters(this.#rows.sums, session, page.counters)
    checkKept('entries', integer(page.counters, 'earliest'), after)
    const all = page.rows.flatMap((row) => this.#ofTypes(session, row, types))
    const found = all.filter(({ seq }) => seq > after && seq <= last)
    const entries = found.slice(0, limit)
    const end = entries.length < found.length ? entries.at(-1)?.seq : undefined
    return { entries, end: end ?? page.end }
  }

  /** Parses only the entries of these types. Refuses a row that names a type without having it. */
  #ofTypes(session: string, row: Row, types: ReadonlySet<string>): Entry[] {
    const version = integer(row, 'version')
    const texts = this.#textsIn(session, row).filter((one) =>
      types.has(typeIn(one) ?? JSON.parse(one).event?.type),
    )
    if (texts.length === 0)
      throw damaged('the log', { session, first: integer(row, 'first'), last: integer(row, 'last') })
    return texts.map((text) => this.#today({ text, version }))
  }

  async readJournal(session: string, bounds: Bounds): Promise<JournalFrame[]> {
    const page = await this.#rows.journal(session, bounds)
    if (!page) return []
    const { counters, rows, kept } = page
    const { after, limit, maxBytes } = bounds
    checkCounters(this.#rows.sums, session, counters)
    checkKept('frames', integer(counters, 'earliest_frame'), after)
    const end = rows.reduce((last, row) => Math.max(last, integer(row, 'last')), kept ?? 0)
    const journaled = counters.journaled ?? null
    const isShort = kept !== undefined && journaled !== null && end < Number(journaled)
    if (isShort || (journaled !== null && end > Math.max(after, Number(journaled))))
      throw damagedFrames(session)
    const found: JournalFrame[] = []
    let [chars, before] = [0, after]
    for (const row of rows) {
      if (!isNextFrame(row, before, row === rows[0])) throw damagedFrames(session)
      before = integer(row, 'last')
      for (const frame of this.#framesIn(session, row)) {
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
    return this.#textsIn(session, { ...row, session }).map((text) => this.#today({ text, version }))
  }

  async #texts(session: string, bounds: Bounds): Promise<Text[]> {
    const page = await this.#rows.log(session, bounds)
    if (!page) return []
    const { after, limit, maxBytes } = bounds
    const head = headIn(this.#rows.sums, session, page.counters)
    let [next, chars] = [after + 1, 0]
    if (next > head) return []
    checkKept('entries', integer(page.counters, 'earliest'), after)
    const found: Text[] = []
    for (const row of page.rows) {
      const first = integer(row, 'first')
      if (first > next || integer(row, 'last') < next)
        throw damaged('the log', { session, first: next, last: first - 1 })
      const version = integer(row, 'version')
      for (const text of this.#textsIn(session, row).slice(next - first)) {
        chars += text.length
        if (found.length === limit || (chars > maxBytes && found.length > 0)) return found
        found.push({ text, version })
      }
      next = integer(row, 'last') + 1
    }
    if (found.length === 0) throw damaged('the log', { session, first: next, last: head })
    return found
  }

  #textsIn(session: string, row: Row): string[] {
    const [first, last] = [integer(row, 'first'), integer(row, 'last')]
    const texts = text(row, 'body').split(BETWEEN)
    const isWhole = texts.length === last - first + 1
    if (!isWhole || damagedPart(this.#rows.sums.log, row) !== undefined)
      throw damaged('the log', { session, first, last })
    return texts
  }

  #framesIn(session: string, row: Row): JournalFrame[] {
    if (damagedPart(this.#rows.sums.journal, row) !== undefined) throw damagedFrames(session)
    return splitFrames(decodeJournal({ encoding: integer(row, 'encoding'), body: bytes(row, 'body') }))
  }

  #today({ text, version }: Text): Entry {
    const entry = JSON.parse(text)
    return version === SCHEMA_VERSION ? entry : upcastEntry(entry, version, this.#upcasts)
  }
}

/** The head of a log, by the counters of its session. Throws if they are damaged, or if the log ends elsewhere. */
export function headIn(sums: Sums, session: string, counters: Row): number {
  checkCounters(sums, session, counters)
  const head = integer(counters, 'head')
  // A database that can tell at no cost where the rows of a log end.
  const isElsewhere = counters.log_last !== undefined && (counters.log_last ?? 0) !== head
  if (isElsewhere) throw damaged('the end of the log', { session })
  return head
}

export function checkCounters(sums: Sums, session: string, counters: Row): void {
  const what = damagedPart(sums.session, counters)
  if (what !== undefined) throw damaged(what, { session })
}

/** Refuses a cursor whose next entry or frame was trimmed, which shows the gap. */
function checkKept(what: 'entries' | 'frames', earliest: number, after: number): void {
  if (after + 1 < earliest) throw cursorGone(what, earliest)
}

function damagedFrames(session: string): MainstemError {
  return damaged('the raw frames', { session })
}

/** Converts an entry that an older Mainstem wrote to the current shape. */
export function upcastEntry(entry: unknown, version: number, upcasts: Upcasts): Entry {
  return Entry.parse(upcast(entry, version, upcasts))
}
