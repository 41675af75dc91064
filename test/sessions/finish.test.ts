import { expect, test } from 'vitest'
import { MainstemError } from '../../src/model/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { house, init, said } from './house.ts'

test('a session whose single task failed with its disk ends when the disk works again', async () => {
  const store = memoryStore()
  const append = store.append.bind(store)
  let isFull = false
  store.append = async (...batch) => {
    if (isFull) throw new MainstemError('storage_failed', 'the disk is full')
    await append(...batch)
  }
  const { open, driver, sessions, time } = house(store)
  const session = await open()
  await session.prompt('go')
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

test('a finished session is ended, also one that does not run here', async () => {
  const { open, store } = house()
  const session = await open()
  const other = house(store)
  await other.sessions.finish(session.id)
  expect(await store.record(session.id)).toMatchObject({ status: 'ended' })
  await other.sessions.finish(session.id)
})
