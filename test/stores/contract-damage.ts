import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BlobRef, toMainstemError } from '../../src/model/index.ts'
import type { StoreReport } from '../../src/stores/inspect.ts'
import type { Store } from '../../src/stores/store.ts'
import { someOf } from '../long.ts'
import { SESSIONS, type View, viewOf } from './damage.ts'

export type SqlValue = string | number | boolean | Uint8Array | null

/** A database with everything that can be stored, to be damaged and put in order again. */
export interface Damageable extends AsyncDisposable {
  readonly blobs: ReadonlyMap<string, BlobRef>
  /** The tables, and their columns. */
  readonly tables: Readonly<Record<string, readonly string[]>>
  /** Those of tokens, grants, webhooks and the audit trail, which belong to no session. */
  readonly accessTables: Readonly<Record<string, readonly string[]>>
  /** The values of a column, by what identifies their rows. */
  values(table: string, column: string): Promise<{ row: SqlValue; value: SqlValue }[]>
  /** Changes a column of a row; false if the database itself refuses it. */
  change(table: string, column: string, row: SqlValue, value: SqlValue): Promise<boolean>
  remove(table: string, row: SqlValue): Promise<void>
  /** Adds a row again, with another value in one column; false if the database itself refuses it. */
  repeat(table: string, row: SqlValue, column: string, value: SqlValue): Promise<boolean>
  /** Uses what is stored now, with nothing in memory. */
  use<T>(work: (store: Store) => Promise<T>): Promise<T>
  /** Uses a store that was just opened. */
  fresh<T>(work: (store: Store) => Promise<T>): Promise<T>
  inspect(): Promise<StoreReport>
  /** Whether a damage costs so little time that more columns are tried in each run. */
  readonly isQuick: boolean
  /** Undoes what was done to a table. */
  restore(table: string): Promise<void>
}

/** Numbers by which a database orders rows, and times of its own. No caller is told any of them. */
const UNTOLD: Readonly<Record<string, readonly string[]>> = {
  session: ['n'],
  log: ['id', 'at', 'xact'],
  journal: ['id'],
  queued: ['id'],
  blob: ['made'],
  blob_part: ['made'],
}

const SESSION = ['record', 'listed', 'entries', 'texts', 'middle', 'head', 'journal', 'prompt', 'image']
/** What is missing where a row is not found by its damaged key, which is not the same as wrong. */
const ABSENT: Readonly<Record<string, readonly string[]>> = {
  'session.id': SESSION,
  session: SESSION,
  'queued.session': ['prompt', 'image'],
  'queued.turn': ['prompt', 'image'],
  queued: ['prompt', 'image'],
  'receipt.id': ['receipt'],
  'blob.id': ['blob'],
  blob: ['blob'],
}

/** A column of a key to change where a row is repeated. A second row with the same key is refused by the database. */
const KEYS: Readonly<Record<string, string>> = {
  session: 'id',
  log: 'first',
  journal: 'last',
  queued: 'turn',
  blob: 'id',
  blob_part: 'part',
  receipt: 'id',
  record: 'session',
  tail: 'session',
  heard: 'session',
}

/** A reader by types never comes to a row that its index does not name, so only the doctor can compare it. */
const FOUND_ONLY = ['log.types']

/** Every damaged, lost or repeated row of every table is refused when it is read, and found by the doctor. */
export function damageContract(name: string, open: () => Promise<Damageable>): void {
  describe(`damage in a ${name} store`, () => {
    let store: Damageable
    let intact: Views
    beforeAll(async () => {
      store = await open()
      intact = await viewsOf(store)
    })
    afterAll(() => store[Symbol.asyncDispose]())

    /** Damages a table, and checks that nothing wrong is served. Returns what is not as before, and what is found. */
    async function damagedBy(table: string, damage: () => Promise<void>, absent: readonly string[] = []) {
      await damage()
      try {
        const { damage: found } = await store.inspect()
        const views = await viewsOf(store)
        const refused = SESSIONS.filter((id) => !isSame(views.get(id), intact.get(id)))
        return { wrong: wrong(intact, views, absent), refused, found }
      } finally {
        await store.restore(table)
      }
    }

    test('an intact store has none, and is served whole', async () => {
      expect(await store.inspect()).toMatchObject({ sessions: 2, unchecked: 0, damage: [] })
      for (const view of intact.values()) expect(Object.values(view)).not.toContain('storage_failed')
    })

    test('a changed value of any column is refused and found', async () => {
      for (const [table, columns] of Object.entries(store.tables)) {
        const told = columns.filter((one) => !UNTOLD[table]?.includes(one))
        for (const column of someOf(told, store.isQuick ? 4 : 2)) {
          const place = `${table}.${column}`
          const rows = (await store.values(table, column)).filter(({ value }) => value !== null)
          const [at] = rows.slice(-2)
          if (!at) throw new Error(`no row has a value in ${place}`)
          const outcome = await damagedBy(
            table,
            async () => {
              expect(await changed(store, table, column, at), place).toBe(true)
            },
            ABSENT[place],
          )
          expect(outcome.wrong, place).toEqual([])
          expect(outcome.found.length, place).toBeGreaterThanOrEqual(1)
          if (FOUND_ONLY.includes(place)) continue
          expect(outcome.refused.length, place).toBeGreaterThanOrEqual(1)
          if (!column.includes('session') && column !== 'blob') expect(outcome.refused, place).toHaveLength(1)
        }
      }
    })

    test('a changed token or grant allows nothing, a changed webhook calls nobody, a changed row of the audit trail is refused, and all are found', async () => {
      const served = () =>
        store.fresh(async ({ access, calls }) => ({
          webhook: JSON.stringify(await access.webhooks()),
          delivery: await calls.list({ webhook: 'w', limit: 9 }).then(
            (rows) => JSON.stringify(rows),
            () => '[]',
          ),
          token: JSON.stringify(await access.tokens()),
          permit: JSON.stringify(await access.grants()),
          audit: await access.audit({ order: 'oldest', limit: 9 }).then(
            (rows) => JSON.stringify(rows),
            (thrown) => toMainstemError(thrown).code,
          ),
        }))
      const before = await served()
      for (const table of ['token', 'permit', 'webhook'] as const) expect(before[table]).toContain('ci')
      expect(before.delivery).toContain('HTTP 500')
      for (const [table, columns] of Object.entries(store.accessTables)) {
        for (const column of columns) {
          const at = (await store.values(table, column)).findLast(({ value }) => value !== null)
          if (!at) throw new Error(`no row has a value in ${table}.${column}`)
          expect(await changed(store, table, column, at), `${table}.${column}`).toBe(true)
          const [now, { damage }] = [new Map(Object.entries(await served())), await store.inspect()]
          await store.restore(table)
          expect(damage, `${table}.${column}`).toHaveLength(1)
          if (table === 'audit') expect(now.get(table), column).toBe('storage_failed')
          else {
            const known = Object.values(before).flatMap((list) => (list.startsWith('[') ? rowsIn(list) : []))
            const strange = rowsIn(now.get(table)).filter((row) => !known.includes(row))
            expect(strange, `${table}.${column}`).toEqual([])
          }
        }
      }
    })

    test('a lost row of any table is refused and found', async () => {
      // Nothing but the row says that a key was used.
      for (const table of Object.keys(store.tables).filter((one) => one !== 'receipt')) {
        const rows = async () => store.values(table, KEYS[table] ?? '')
        const { length } = await rows()
        for (let index = 0; index < length; index++) {
          const at = (await rows())[index]
          const place = `${table} ${at?.value}`
          const outcome = await damagedBy(table, () => store.remove(table, at?.row ?? null), ABSENT[table])
          expect(outcome.wrong, place).toEqual([])
          expect(outcome.refused, place).toHaveLength(1)
          expect(outcome.found.length, place).toBeGreaterThanOrEqual(1)
        }
      }
    })

    test('a repeated row of any table is not served, and found', async () => {
      for (const table of Object.keys(store.tables)) {
        const column = KEYS[table] ?? ''
        const [at] = await store.values(table, column)
        if (!at) throw new Error(`${table} has no row`)
        const copies = [at.value, next(at.value), typeof at.value === 'number' ? at.value + 1 : 'x']
        for (const value of copies) {
          const [again] = await store.values(table, column)
          let isAdded = false
          const outcome = await damagedBy(table, async () => {
            isAdded = await store.repeat(table, again?.row ?? null, column, value)
          })
          expect(outcome.wrong, `${table} ${value}`).toEqual([])
          expect(outcome.found.length > 0, `${table} ${value}`).toBe(isAdded && !isIdle(table))
        }
      }
    })

    test('a session can be deleted, whatever of it is damaged', async () => {
      for (const table of Object.keys(store.tables).filter((one) => KEYS[one] !== 'id')) {
        const [at] = await store.values(table, KEYS[table] ?? '')
        await store.remove(table, at?.row ?? null)
      }
      for (const { row, value } of await store.values('session', 'fence'))
        await store.change('session', 'fence', row, Number(value) + 1)
      await store.use(async (opened) => {
        for (const id of SESSIONS) await opened.delete(id, 1)
        for (const id of SESSIONS) expect(await opened.record(id)).toBeUndefined()
        expect(await opened.records({ limit: 9 })).toEqual([])
      })
    })
  })
}

/** Rows that belong to no session yet, or whose session has others, mean nothing. */
const isIdle = (table: string) => ['tail', 'heard'].includes(table)

type Views = ReadonlyMap<string, View>

const isSame = (a: View | undefined, b: View | undefined) => JSON.stringify(a) === JSON.stringify(b)

function viewsOf(damageable: Damageable): Promise<Views> {
  return damageable.use(async (store) => {
    const views = new Map<string, View>()
    for (const id of SESSIONS) views.set(id, await viewOf(store, id, damageable.blobs.get(id)))
    return views
  })
}

/** What is served differently from what was stored, and is not refused. */
function wrong(intact: Views, views: Views, absent: readonly string[]): string[] {
  return SESSIONS.flatMap((id) => {
    const [before, now] = [intact.get(id) ?? {}, views.get(id) ?? {}]
    return Object.keys(before).flatMap((part) => {
      const value = now[part] ?? ''
      if (value === before[part] || value === 'storage_failed') return []
      if (absent.includes(part) && ['absent', 'not_found', '[]', '0'].includes(value)) return []
      // A page may end before the damage; the next one is refused.
      if (part === 'middle' && now.entries === 'storage_failed' && isBeginning(value, before[part] ?? ''))
        return []
      // A list leaves out the records that are refused by their ids.
      if (part === 'listed' && value === 'absent' && now.record === 'storage_failed') return []
      return [`${part} of ${id}: ${value.slice(0, 80)}`]
    })
  })
}

const isBeginning = (list: string, whole: string) => whole.startsWith(list.slice(0, -1))

/** Tries several bits, because the database refuses some values. */
async function changed(
  store: Damageable,
  table: string,
  column: string,
  { row, value }: { row: SqlValue; value: SqlValue },
): Promise<boolean> {
  for (let bit = 0; bit < 5; bit++)
    if (await store.change(table, column, row, flipped(value, bit))) return true
  return false
}

/** One bit of a value. */
function flipped(value: SqlValue, bit: number): SqlValue {
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number')
    return value + (Math.floor(value / 2 ** bit) % 2 === 0 ? 2 ** bit : -(2 ** bit))
  if (value === '') return 'x'
  const bytes = Buffer.from(value ?? '')
  const at = Math.floor((bytes.length * 2) / 3)
  bytes.writeUInt8((bytes[at] ?? 0) ^ (1 << bit), at)
  return typeof value === 'string' ? bytes.toString() : bytes
}

const next = (value: SqlValue): SqlValue => (typeof value === 'number' ? value + 1000 : `${value}x`)

/** The rows of a list, each as JSON. */
function rowsIn(list = '[]'): string[] {
  const rows: unknown[] = JSON.parse(list)
  return rows.map((row) => JSON.stringify(row))
}
