import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { MainstemError } from '../../model/index.ts'
import { checksum, matches } from '../checksum.ts'
import { bytes, integer, type Row, text } from '../row.ts'
import { blobSum, contentOf } from './blobs.ts'
import { type Files, filesIn } from './files.ts'
import { leaseSum, textOrNone } from './lease-row.ts'
import { receiptSum } from './receipts.ts'
import { RECORD, toRecord } from './record-row.ts'
import { checkCurrent, checkFinished } from './schema.ts'

/** Stored data that does not match its checksum. */
export interface StoreDamage {
  file: string
  what: string
  session?: string
  /** The entries that cannot be read. */
  first?: number
  last?: number
}

export interface StoreReport {
  file: string
  sessions: number
  /** Rows that were compared with their checksums. */
  checked: number
  /** Rows without a checksum, which an older version wrote. */
  unchecked: number
  damage: StoreDamage[]
}

/** A table, the columns to compare, and the checksum of a row; `session` is the id of the session, if it has one. */
interface Table {
  what: string
  rows: string
  sum(row: Row): number
}

const OWNER = 'LEFT JOIN session s ON s.n = t.session'

const LOG = `SELECT s.id AS owner, t.session, t.first, t.last, t.version, t.body, t.sum
  FROM log t ${OWNER} ORDER BY t.session, t.first`

const TABLES: readonly Table[] = [
  {
    what: 'the raw frames',
    rows: `SELECT s.id AS owner, t.session, t.last, t.encoding, t.body, t.sum FROM journal t ${OWNER}`,
    sum: (row) =>
      checksum([integer(row, 'session'), integer(row, 'last'), integer(row, 'encoding')], bytes(row, 'body')),
  },
  {
    what: 'a queued prompt',
    rows: `SELECT s.id AS owner, t.session, t.turn, t.body, t.sum FROM queued t ${OWNER}`,
    sum: (row) => checksum([integer(row, 'session'), integer(row, 'turn')], text(row, 'body')),
  },
  {
    what: 'a queued prompt',
    rows: `SELECT s.id AS owner, t.session, t.turn, t.whole, t.whole_sum AS sum FROM queued t ${OWNER}
      WHERE t.whole IS NOT NULL`,
    sum: (row) => checksum([integer(row, 'session'), integer(row, 'turn')], text(row, 'whole')),
  },
  {
    what: 'the lease',
    rows: 'SELECT t.id AS owner, t.n, t.fence, t.owner AS holder, t.lease_sum AS sum FROM session t',
    sum: (row) =>
      leaseSum({ n: integer(row, 'n'), fence: integer(row, 'fence'), owner: textOrNone(row.holder) }),
  },
  {
    what: 'an idempotency key',
    rows: 'SELECT t.session AS owner, t.id, t.session, t.at, t.body, t.sum FROM receipt t',
    sum: receiptSum,
  },
]

/** Compares everything in a store with its checksums. Reads only, also while another process has the store open. */
export async function inspectStore(directory: string): Promise<StoreReport> {
  const files = filesIn(directory)
  if (!existsSync(files.database)) throw new MainstemError('not_found', `there is no store in ${directory}`)
  const db = new DatabaseSync(files.database, { readOnly: true })
  try {
    db.exec('PRAGMA busy_timeout = 5000')
    checkCurrent(db, files.database)
    checkFinished(db, files.database)
    return await new Inspection(db, files).run()
  } finally {
    db.close()
  }
}

class Inspection {
  readonly #db: DatabaseSync
  readonly #files: Files
  readonly #report: StoreReport

  constructor(db: DatabaseSync, files: Files) {
    this.#db = db
    this.#files = files
    this.#report = { file: files.database, sessions: 0, checked: 0, unchecked: 0, damage: [] }
  }

  async run(): Promise<StoreReport> {
    for (const row of this.#db.prepare('PRAGMA integrity_check(20)').all()) {
      const found = text(row, 'integrity_check')
      if (found !== 'ok') this.#add(found)
    }
    this.#records()
    this.#log()
    for (const table of TABLES) this.#table(table)
    await this.#blobs()
    return this.#report
  }

  #records(): void {
    for (const row of this.#db.prepare(`${RECORD} WHERE s.record IS NOT NULL ORDER BY s.n`).iterate()) {
      this.#report.sessions++
      this.#count(row.sum)
      try {
        toRecord(row)
      } catch (thrown) {
        // Also text that is no longer valid JSON.
        const what = thrown instanceof MainstemError ? String(thrown.details?.what) : 'the record'
        this.#add(what, { session: String(row.id) })
      }
    }
  }

  #log(): void {
    let [session, expected]: [number, number] = [0, 0]
    for (const row of this.#db.prepare(LOG).iterate()) {
      const [n, first, last] = [integer(row, 'session'), integer(row, 'first'), integer(row, 'last')]
      const location = { ...ownerOf(row), first, last }
      if (n === session && first !== expected)
        this.#add('the log', { ...location, first: expected, last: first - 1 })
      this.#compare('the log', location, row, () =>
        checksum([n, first, last, integer(row, 'version')], text(row, 'body')),
      )
      ;[session, expected] = [n, last + 1]
    }
  }

  #table({ what, rows, sum }: Table): void {
    for (const row of this.#db.prepare(rows).iterate()) {
      this.#compare(what, ownerOf(row), row, () => sum(row))
    }
  }

  async #blobs(): Promise<void> {
    const rows = `SELECT s.id AS owner, t.id, t.session, t.sum FROM blob t ${OWNER}`
    for (const row of this.#db.prepare(rows).all()) {
      const id = text(row, 'id')
      const file = join(this.#files.blobs, id)
      const content = await contentSum(file).catch(() => undefined)
      if (content === undefined) this.#add(`blob ${id} (its file cannot be read)`, ownerOf(row), file)
      else
        this.#compare(
          `blob ${id}`,
          ownerOf(row),
          row,
          () => blobSum(id, integer(row, 'session'), content),
          file,
        )
    }
  }

  #compare(what: string, location: Partial<StoreDamage>, row: Row, sum: () => number, file?: string): void {
    this.#count(row.sum)
    // If a row has no session, its session is damaged.
    if (location.session === undefined || !matches(row.sum, sum)) this.#add(what, location, file)
  }

  #count(sum: unknown): void {
    if (sum === null) this.#report.unchecked++
    else this.#report.checked++
  }

  #add(what: string, location: Partial<StoreDamage> = {}, file = this.#files.database): void {
    this.#report.damage.push({ ...location, what, file })
  }
}

async function contentSum(path: string): Promise<number> {
  const file = await open(path, 'r')
  try {
    return (await contentOf(file)).sum
  } finally {
    await file.close()
  }
}

function ownerOf({ owner }: Row): { session?: string } {
  return typeof owner === 'string' ? { session: owner } : {}
}
