import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Retention } from '../../../src/sessions/recovery/retention.ts'
import { postgresStore } from '../../../src/stores/postgres.ts'
import { newSchema } from '../../postgres/database.ts'
import { house, init, result, said } from '../house.ts'

const DAY = 86_400_000
const KEYS = { receiptsMs: DAY }

/** A session that ran one turn; it has ended unless told otherwise. */
async function lived(own: ReturnType<typeof house>, number: number, ended = true) {
  const session = await own.open()
  await session.prompt('one')
  const run = await own.driver.run(number)
  run.say(init, said('hi'), result('hi'))
  await session.settled(1)
  run.die({ code: 0 })
  if (ended) await own.sessions.end(session.id)
  return session.id
}

test('only sessions that ended long ago are deleted, and their usage stays', async () => {
  const own = house()
  const old = await lived(own, 1)
  const open = await lived(own, 2, false)
  await own.time.pass(10 * DAY)
  const young = await lived(own, 3)
  await own.sessions.prune({ ...KEYS, sessionsMs: 5 * DAY })
  expect(await own.store.record(old)).toBeUndefined()
  expect(await own.store.head(old)).toBe(0)
  for (const id of [open, young]) expect(await own.store.record(id)).toBeDefined()
  const usage = await own.store.dailyUsage('local')
  expect(usage.reduce((sum, { turns }) => sum + turns, 0)).toBe(3)
})

test('a system clock that jumps ahead or back removes nothing early', async () => {
  let jumped = 0
  let passed = 0
  const clock = { now: () => 1e12 + passed + jumped, monotonic: () => passed }
  const own = house(undefined, { clock })
  const id = await lived(own, 1)
  const retention: Retention = { ...KEYS, sessionsMs: 5 * DAY, journalMs: DAY }
  for (jumped of [400 * DAY, -400 * DAY]) {
    await own.sessions.prune(retention)
    expect(await own.store.readJournal(id, 0, 9)).toHaveLength(6)
  }
  jumped = 0
  passed = 6 * DAY
  await own.sessions.prune(retention)
  expect(await own.store.record(id)).toBeUndefined()
})

test('a server whose clock is days ahead removes no session of a shared database early', async () => {
  await using store = await postgresStore({ url: await newSchema() })
  const at = (days: number) => {
    const clock = { now: () => Date.now() + days * DAY, monotonic: () => performance.now() }
    return house(store, { clock, newId: randomUUID })
  }
  const id = await lived(at(0), 1)
  await at(100).sessions.prune({ ...KEYS, sessionsMs: 90 * DAY })
  expect(await store.record(id)).toBeDefined()
  const old = await lived(at(-100), 1)
  await at(0).sessions.prune({ ...KEYS, sessionsMs: 90 * DAY })
  expect(await store.record(old)).toBeUndefined()
})

test('an ended session keeps its newest entries, and reads of the others are refused as gone', async () => {
  const own = house()
  const id = await lived(own, 1)
  const open = await lived(own, 2, false)
  const head = await own.store.head(id)
  await own.sessions.prune({ ...KEYS, entries: 2 })
  await own.sessions.prune({ ...KEYS, entries: 2 })
  expect(await own.store.record(id)).toMatchObject({ head, earliest: head - 1 })
  expect(await own.sessions.read(id, head - 2, 9)).toHaveLength(2)
  await expect(own.sessions.read(id, 0, 9)).rejects.toMatchObject({ code: 'cursor_gone' })
  expect(await own.store.read(open, 0, 9)).toHaveLength(await own.store.head(open))
})

test('raw frames have a time of their own', async () => {
  const own = house()
  const id = await lived(own, 1)
  const retention: Retention = { ...KEYS, journalMs: DAY }
  await own.sessions.prune(retention)
  expect(await own.store.readJournal(id, 0, 9)).toHaveLength(6)
  await own.time.pass(2 * DAY)
  await own.sessions.prune(retention)
  await expect(own.store.readJournal(id, 0, 9)).rejects.toMatchObject({
    code: 'cursor_gone',
    details: { earliest: 7 },
  })
  expect(await own.store.read(id, 0, 99)).toHaveLength(await own.store.head(id))
})

test('without a word about it nothing is removed', async () => {
  const own = house()
  const id = await lived(own, 1)
  await own.time.pass(10_000 * DAY)
  await own.sessions.prune(KEYS)
  expect(await own.store.read(id, 0, 99)).toHaveLength(await own.store.head(id))
})

test('the audit trail is kept for ever, or as long as its own setting says', async () => {
  const { sessions, store } = house()
  const fact = { id: 'row', action: 'session.exported', principal: 'local', client: 'api' } as const
  await store.access.note(fact)
  const rows = async () => (await store.access.audit({ order: 'oldest', limit: 10 })).length
  await sessions.prune({ ...KEYS, sessionsMs: 1, journalMs: 1, entries: 1 })
  expect(await rows()).toBe(1)
  await sessions.prune({ ...KEYS, auditMs: DAY })
  expect(await rows()).toBe(1)
  await sessions.prune({ ...KEYS, auditMs: -DAY })
  expect(await rows()).toBe(0)
})

test('a system clock that jumps ahead removes no row of the audit trail early', async () => {
  let jumped = 0
  const clock = { now: () => Date.now() + jumped, monotonic: () => 0 }
  const { sessions, store } = house(undefined, { clock })
  const fact = { id: 'row', action: 'session.exported', principal: 'local', client: 'api' } as const
  await store.access.note(fact)
  jumped = 100 * DAY
  // The store of this test does not jump, so a row that survives a negative age was given the time of the jump.
  await sessions.prune({ ...KEYS, auditMs: -DAY })
  expect(await store.access.audit({ order: 'oldest', limit: 10 })).toHaveLength(1)
})
