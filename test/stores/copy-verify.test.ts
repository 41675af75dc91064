import { readdirSync, truncateSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { checksum } from '../../src/stores/checksum.ts'
import { copyStore } from '../../src/stores/copy/copy-store.ts'
import type { CopyTarget } from '../../src/stores/copy/copyable.ts'
import { query } from '../postgres/database.ts'
import { PAIRS, PLACES, type Place, type PlaceKind } from './copy-places.ts'
import { Scene } from './copy-scene.ts'
import { entries, entry, sessionId, state } from './sqlite-parts.ts'

const ID = sessionId(0)

async function filled(kind: PlaceKind): Promise<Place> {
  const place = await PLACES[kind]()
  await using store = await place.open()
  await new Scene(store).play([
    { session: 0, what: 'append', size: 3 },
    { session: 0, what: 'blob', size: 2 },
    { session: 0, what: 'queue', size: 2 },
    { session: 0, what: 'append', size: 3 },
  ])
  return place
}

/** Changes a database behind the back of its store. */
async function change(kind: PlaceKind, { address }: Place, sql: string): Promise<void> {
  if (kind === 'postgres') await query(address, sql)
  else {
    const db = new DatabaseSync(address)
    db.exec(sql.replaceAll('@', ''))
    db.close()
  }
}

async function copy(from: Place, to: Place, prepare: (target: CopyTarget) => void = () => undefined) {
  await using source = await from.source()
  await using target = await to.target()
  prepare(target)
  return await copyStore(source, target)
}

/** What a disk could do to each part; all of it is valid SQL for both databases. */
const DAMAGE = [
  ['the log', "UPDATE @log SET body = replace(body, 'stdout', 'stderr') WHERE first = 1"],
  ['the log', 'DELETE FROM @log WHERE first = 1'],
  ['a queued prompt', "UPDATE @queued SET body = replace(body, 'prompt', 'tpmorp')"],
  ['the queue', 'DELETE FROM @queued'],
  ['the raw frames', 'DELETE FROM @journal WHERE last < 5'],
  ['an idempotency key', "UPDATE @receipt SET body = replace(body, 'key 1', 'key 9')"],
] as const

test.each(PAIRS.slice(0, 2))('a copy from %s to %s refuses damaged data of its source', async (from, to) => {
  for (const [what, sql] of DAMAGE) {
    const [a, b] = [await filled(from), await PLACES[to]()]
    await change(from, a, sql)
    await expect(copy(a, b), sql).rejects.toMatchObject({
      code: 'storage_failed',
      message: expect.stringMatching(
        new RegExp(`(?:${what}|the beginning of the log) of session ${ID}.* is damaged`),
      ),
    })
  }
})

test.each(PAIRS.slice(0, 2))(
  'a copy from %s to %s that differs in one row is found before a server can open it',
  async (from, to) => {
    for (const [, sql] of DAMAGE) {
      const [a, b] = [await filled(from), await PLACES[to]()]
      const copied = copy(a, b, (target) => {
        const complete = target.complete.bind(target)
        target.complete = async (time) => {
          await complete(time)
          await change(to, b, sql)
        }
      })
      await expect(copied, sql).rejects.toMatchObject({ code: 'conflict' })
      await expect(b.open(), sql).rejects.toThrow('is an unfinished copy of')
    }
  },
)

test('a row that is another one, with a checksum that fits, is found', async () => {
  const [a, b] = [await filled('sqlite'), await PLACES.postgres()]
  const copied = copy(a, b, (target) => {
    const complete = target.complete.bind(target)
    target.complete = async (time) => {
      await complete(time)
      const [row] = await query(b.address, 'SELECT body, last, version FROM @log WHERE first = 1')
      const body = String(row?.body).replace('stdout', 'stderr')
      const sum = checksum([1, Number(row?.last), Number(row?.version)], ID, body)
      await query(b.address, 'UPDATE @log SET body = $1, sum = $2 WHERE first = 1', [body, sum])
    }
  })
  await expect(copied).rejects.toThrow(`the log of session ${ID} (entries 1 to 4) differs in the copy`)
})

test('a blob whose file was cut is refused', async () => {
  const [a, b] = [await filled('sqlite'), await PLACES.postgres()]
  const blobs = join(dirname(a.address), 'blobs')
  for (const id of readdirSync(blobs)) truncateSync(join(blobs, id), 1_000)
  await expect(copy(a, b)).rejects.toThrow(/blob .* is damaged/)
})

test('rows of an older version are copied: without checksums, with entries and records of that version', async () => {
  const [a, b] = [await PLACES.sqlite(), await PLACES.postgres()]
  {
    await using store = await a.open()
    await store.create(ID, { entries: [entry(ID, 1)], record: state(ID) })
    await store.append(ID, { entries: entries(ID, 2, 3) })
  }
  const asked = {
    type: 'request.opened',
    requestId: 'r',
    kind: 'permission',
    blocking: true,
    inputDigest: 'd',
  }
  const old = { ...entry(ID, 1), event: { ...asked, options: [], asks: 'person' } }
  const record = { ...state(ID), requests: [{ ...asked, options: [], asks: 'person' }] }
  const db = new DatabaseSync(a.address)
  db.prepare('UPDATE log SET body = ?, version = 1, sum = NULL WHERE first = 1').run(JSON.stringify(old))
  db.prepare('UPDATE session SET record = ?, sum = NULL, edge_sum = NULL, lease_sum = NULL').run(
    JSON.stringify(record),
  )
  db.exec('UPDATE log SET sum = NULL; DELETE FROM tail')
  db.close()
  await copy(a, b)
  await using before = await a.open()
  await using after = await b.open()
  expect(await after.read(ID, 0, 9)).toEqual(await before.read(ID, 0, 9))
  const found = await after.record(ID)
  expect(found).toEqual(await before.record(ID))
  expect(found?.requests[0]).toMatchObject({ answeredBy: 'person' })
  const [row] = await query(b.address, 'SELECT body FROM @log WHERE first = 1')
  expect(row?.body).toBe(JSON.stringify(old))
})
