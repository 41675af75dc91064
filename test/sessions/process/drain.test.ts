import { expect, test } from 'vitest'
import { claude } from '../../../src/agents/claude/agent.ts'
import { refuse } from '../../../src/agents/kit/decoded.ts'
import { MainstemError } from '../../../src/model/index.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { FakeTime } from '../fake-driver.ts'
import { house, init, said } from '../house.ts'

test('draining ends a session that is being created', async () => {
  const store = memoryStore()
  const asked = Promise.withResolvers<void>()
  const written = Promise.withResolvers<void>()
  const create = store.create.bind(store)
  store.create = async (...batch) => {
    asked.resolve()
    await written.promise
    return create(...batch)
  }
  const { sessions, driver } = house(store)
  const creating = sessions.create({ agent: 'claude', launch: 'oneshot', cwd: '/' }, 'one')
  await asked.promise
  const drained = sessions.drain()
  written.resolve()
  const session = await creating
  await drained
  expect((await driver.run()).stops).toBe(1)
  expect(await session.settled(1)).toMatchObject({ outcome: 'interrupted' })
})

test('draining ends a queue that continues after a failed write', async () => {
  const store = memoryStore()
  const append = store.append.bind(store)
  const disk = { full: false }
  const asked = Promise.withResolvers<void>()
  const written = Promise.withResolvers<void>()
  store.append = async (...batch) => {
    if (disk.full) throw new MainstemError('storage_failed', 'the disk is full')
    if (batch[1].entries.some(({ event, turn }) => event.type === 'turn.started' && turn === 2)) {
      asked.resolve()
      await written.promise
    }
    await append(...batch)
  }
  const { sessions, open, driver, time } = house(store)
  const session = await open({}, { launch: 'oneshot' })
  await session.prompt('one')
  await session.prompt('two')
  const run = await driver.run()
  disk.full = true
  run.say(init, said('lost'))
  await expect(session.settled(1)).rejects.toMatchObject({ code: 'storage_failed' })
  disk.full = false
  void time.pass(60_000)
  await asked.promise
  const drained = sessions.drain()
  written.resolve()
  await drained
  expect(driver.runs).toHaveLength(2)
  expect(driver.runs.map(({ stops }) => stops > 0)).toEqual([true, true])
})

test('draining stops the process of an agent that refuses to be interrupted', async () => {
  const live = claude.launches.live
  if (!live) throw new Error('claude has a live launch')
  const { codec } = live
  const stubborn = {
    ...claude,
    launches: {
      ...claude.launches,
      live: {
        ...live,
        codec: {
          ...codec,
          encode: (...[state, command]: Parameters<typeof codec.encode>) =>
            command.type === 'interrupt' || command.type === 'close'
              ? refuse('conflict', 'not now')
              : codec.encode(state, command),
        },
      },
    },
  }
  const { sessions, open, driver, time } = house(memoryStore(), { known: [stubborn] })
  const session = await open()
  await session.prompt('one')
  await session.prompt('two')
  const run = await driver.run()
  await passUntil(sessions.drain(), time)
  expect(run.stops).toBeGreaterThan(0)
  expect(await session.settled(1)).toMatchObject({ outcome: 'interrupted' })
  await expect(session.settled(2)).rejects.toMatchObject({ code: 'draining' })
})

test('draining does not wait for an agent that nothing ends', async () => {
  const { sessions, open, driver, time } = house()
  const session = await open()
  await session.prompt('one')
  const run = await driver.run()
  run.onStop = () => undefined
  await passUntil(sessions.drain(), time)
  expect(run.stops).toBeGreaterThan(0)
  await expect(session.settled(1)).rejects.toMatchObject({ code: 'draining' })
})

test('the run of a warm process is recorded before the process starts', async () => {
  const store = memoryStore()
  const { open, driver } = house(store)
  const session = await open()
  await session.place.warm()
  await driver.run()
  expect(await store.record(session.id)).toMatchObject({ epoch: 1 })
})

async function passUntil(work: Promise<void>, time: FakeTime): Promise<void> {
  let isDone = false
  void work.then(() => {
    isDone = true
  })
  while (!isDone) await time.pass(1_000)
}

test('draining waits for an eviction, and later ones do nothing, because the store is about to close', async () => {
  const store = memoryStore()
  const written = Promise.withResolvers<void>()
  const trim = store.trim.bind(store)
  const evictions: string[] = []
  store.trim = async (...point) => {
    evictions.push('began')
    await written.promise
    await trim(...point)
    evictions.push('ended')
  }
  const { sessions, open } = house(store)
  const session = await open()
  const evicted = sessions.trim(session.id, 1)
  await expect.poll(() => evictions).toEqual(['began'])
  const drained = sessions.drain().then(() => evictions.push('drained'))
  written.resolve()
  await Promise.all([evicted, drained])
  await sessions.trim(session.id, 1)
  expect(evictions).toEqual(['began', 'ended', 'drained'])
})
