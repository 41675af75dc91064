import { blobsOf } from '../model/entry-blobs.ts'
import type { Entry } from '../model/index.ts'
import { Continuity } from './continuity.ts'
import { BETWEEN } from './log-rows.ts'
import type { DamageLocation } from './refusals.ts'
import { integer, type Row, text } from './row.ts'
import { typesIn } from './row-types.ts'
import { checkOf, NAMES, type Sums, type TableName } from './tables.ts'

/** Stored data that does not match its checksum, or is missing. */
export interface StoreDamage extends DamageLocation {
  file: string
  what: string
}

export interface StoreReport {
  file: string
  sessions: number
  /** Checksums that were compared. */
  checked: number
  /** Checksums that are missing, because an older version wrote the row. */
  unchecked: number
  damage: StoreDamage[]
}

/** A database as it was at one moment. */
export interface InspectSource {
  /** Names the database in the report. */
  readonly file: string
  readonly sums: Sums
  /** Damage that the database itself finds. */
  integrity(): readonly string[]
  /**
   * All rows, those of a session in their order: `n` is the number of its session, and `session` its id, if the session
   * exists. A blob also has its `content`, which is missing if it cannot be read, and `file` if it has one.
   */
  scan(table: TableName): AsyncIterable<Row>
}

/** Compares everything in a store with its checksums, and finds rows that are lost or repeated. Reads only. */
export async function inspect(source: InspectSource): Promise<StoreReport> {
  const inspection = new Inspection(source)
  await inspection.run()
  return inspection.report
}

/** The tables whose rows have checksums. */
const INSPECTED = [
  'session',
  'log',
  'journal',
  'queued',
  'blob',
  'receipt',
  'token',
  'permit',
  'webhook',
  'delivery',
  'audit',
] as const

class Inspection {
  readonly report: StoreReport
  readonly #source: InspectSource
  readonly #continuity = new Continuity((what, location) => this.#add(what, location))
  /** The blobs that entries refer to and whose rows were not found, each with a session that refers to it. */
  readonly #blobs = new Map<string, string>()

  /** Several rows may show the same damage. */
  readonly #named = new Set<string>()

  constructor(source: InspectSource) {
    this.#source = source
    this.report = { file: source.file, sessions: 0, checked: 0, unchecked: 0, damage: [] }
  }

  async run(): Promise<void> {
    for (const found of this.#source.integrity()) this.#add(found)
    for (const table of INSPECTED) {
      for await (const row of this.#source.scan(table)) {
        this.#continuity.add(table, row)
        if (table === 'blob') this.#blob(row)
        else this.#compare(table, row, rangeOf(row))
        if (table === 'session') this.#record(row)
        if (table === 'log') this.#entries(row)
      }
    }
    this.#continuity.end()
    for (const [id, session] of this.#blobs) this.#add(`blob ${id} (it is missing)`, { session })
  }

  #record(row: Row): void {
    if (row.record !== null) this.report.sessions++
    if (typeof row.record === 'string' && !isJson(row.record)) this.#add('the record', locationOf(row))
  }

  #entries(row: Row): void {
    const { session } = locationOf(row)
    if (session === undefined) return
    const texts = text(row, 'body').split(BETWEEN)
    for (const id of blobsIn(texts)) this.#blobs.set(id, session)
    const types = typeof row.types === 'string' ? typesIn(texts) : undefined
    if (types !== undefined && types !== row.types) this.#add(NAMES.log, { session, ...rangeOf(row) })
  }

  #blob(row: Row): void {
    const id = text(row, 'id')
    const file = typeof row.file === 'string' ? row.file : undefined
    this.#blobs.delete(id)
    if (row.content === undefined) this.#add(`blob ${id} (it cannot be read)`, locationOf(row), file)
    else this.#compare('blob', row, {}, `blob ${id}`, file)
  }

  #compare(table: TableName, row: Row, range: DamageLocation = {}, name?: string, file?: string): void {
    const sums = this.#source.sums[table]
    const location = { ...locationOf(row), ...range }
    for (const [column, { what }] of Object.entries(sums)) {
      const found = checkOf(sums, column, row)
      if (found === 'absent') continue
      if (found === 'unchecked') this.report.unchecked++
      else this.report.checked++
      if (found === 'damaged') this.#add(name ?? what, location, file)
    }
    // The session of the row is missing, or another than it was.
    if (typeof row.n === 'number' && location.session === undefined)
      this.#add(name ?? NAMES[table], location, file)
  }

  #add(what: string, location: DamageLocation = {}, file = this.report.file): void {
    const key = JSON.stringify([what, location.session, location.first])
    if (this.#named.has(key)) return
    this.#named.add(key)
    this.report.damage.push({ ...location, what, file })
  }
}

function locationOf({ session }: Row): DamageLocation {
  return typeof session === 'string' ? { session } : {}
}

/** The entries of a row of the log. */
function rangeOf(row: Row): DamageLocation {
  return 'first' in row ? { first: integer(row, 'first'), last: integer(row, 'last') } : {}
}

/** The blobs that entries refer to. Few entries do, and parsing all would take minutes. */
function blobsIn(texts: readonly string[]): string[] {
  return texts.flatMap((text) => {
    if (!text.includes('"blob') || !isJson(text)) return []
    const entry: Entry = JSON.parse(text)
    return blobsOf(entry).map(({ id }) => id)
  })
}

function isJson(value: string): boolean {
  try {
    JSON.parse(value)
    return true
  } catch {
    // Its checksum says where it was damaged.
    return false
  }
}
