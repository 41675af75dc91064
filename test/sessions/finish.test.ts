import { expect, test } from 'vitest'
import { MainstemError } from '../../src/model/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { house, init, result, said } from './house.ts'

const TASK = { agent: 'claude', cwd: '/', single: true }

test('a session whose single task failed with its disk ends when the disk works again', async () => {
  const store = memoryStore()
  const append = store.append.bind(store)
  let isFull = false
  store.append = async (...batch) => {
    if (isFull) throw new MainstemError('storage_failed', 'the disk is full')
    await append(...batch)
  }
  const { driver, sessions, time } = house(store)
  const session = await sessions.create(TASK, 'go')
  const run = await driver.run()
  isFull = true
  run.say(init, said('lost'))
  await expect(session.settled(1)).rejects.toMatchObject({ code: 'storage_failed' })
  let isFinished = false
  const finished = sessions.finish(session.id).then(() => {
    isFinished = true
  })
  await time.pass(30_000)
  expect(isFinished).toBe(false)
  isFull = false
  await time.pass(60_000)
  await finished
  expect(await store.record(session.id)).toMatchObject({ status: 'ended' })
})

test('a session with a single task that does not run here is ended', async () => {
  const { sessions, store } = house()
  const session = await sessions.create(TASK)
  const other = house(store)
  await other.sessions.finish(session.id)
  expect(await store.record(session.id)).toMatchObject({ status: 'ended' })
  const { head } = (await store.record(session.id)) ?? {}
  await other.sessions.finish(session.id)
  expect(await store.head(session.id)).toBe(head)
})

test.each([
  ['during its task', false, 'lost'],
  ['after its task', true, 'completed'],
])('a server that died %s leaves a session that the next one ends', async (_, isDone, reason) => {
  const before = house()
  const session = await before.sessions.create(TASK, 'go')
  const run = await before.driver.run()
  run.say(init, ...(isDone ? [said('done'), result('done')] : []))
  if (isDone) await session.settled(1)
  else await expect.poll(async () => (await before.store.record(session.id))?.head).toBeGreaterThan(2)
  const after = house(before.store)
  await after.sessions.recover()
  expect(await after.store.record(session.id)).toMatchObject({ status: 'ended' })
  const entries = await after.store.read(session.id, 0, 100)
  expect(entries.at(-1)?.event).toEqual({ type: 'session.ended', reason })
  await after.sessions.recover()
  expect(await after.store.head(session.id)).toBe(entries.length)
})
