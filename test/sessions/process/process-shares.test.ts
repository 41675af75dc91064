import { expect, test } from 'vitest'
import type { Session } from '../../../src/sessions/session.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { FakeDriver } from '../fake-driver.ts'
import { house, init, result } from '../house.ts'

const REFUSED = { code: 'overloaded', details: { retryAfter: 5 } }

/** One turn that ends; its process stays warm. */
async function turn(session: Session, driver: FakeDriver, run: number): Promise<void> {
  await session.prompt('go')
  const process = await driver.run(run)
  process.onWrite = ({ kind }) => kind === 'end' && process.die({ code: 0 })
  process.say(init, result('ok'))
  await session.settled(1)
}

test('a principal with long turns leaves agent processes for others', async () => {
  const { open } = house(memoryStore(), { maxProcesses: 8 })
  for (let count = 0; count < 6; count++) await (await open({}, { principal: 'guest' })).prompt('go')
  const more = await open({}, { principal: 'guest' })
  await expect(more.prompt('go')).rejects.toMatchObject(REFUSED)
  const others = ['a', 'b'].map((principal) => open({}, { principal }))
  for (const session of await Promise.all(others)) expect(await session.prompt('go')).toBe(1)
})

test('a principal takes no more than its share by prompts to sessions with an idle process', async () => {
  const { open, driver } = house(memoryStore(), { maxProcesses: 4 })
  const warm: Session[] = []
  for (let run = 1; run <= 4; run++) {
    const session = await open({}, { principal: 'guest' })
    await turn(session, driver, run)
    warm.push(session)
  }
  for (const session of warm.slice(0, 3)) expect(await session.prompt('more')).toBe(2)
  await expect(warm[3]?.prompt('more')).rejects.toMatchObject(REFUSED)
  // A prompt that waits needs no further process.
  expect(await warm[0]?.prompt('later')).toBe(3)
  expect(await (await open({}, { principal: 'owner' })).prompt('go')).toBe(1)
})

test('the person who runs the server uses every agent process', async () => {
  const { open } = house(memoryStore(), { maxProcesses: 3 })
  for (let count = 0; count < 3; count++) expect(await (await open()).prompt('go')).toBe(1)
})

test('after a restart, the queues of a principal at its share do not delay those of others', async () => {
  const store = memoryStore()
  const before = house(store, { maxProcesses: 20 })
  const left: Session[] = []
  for (const principal of ['owner', 'guest', 'guest', 'guest', 'guest']) {
    const session = await before.open({}, { principal })
    await session.prompt('runs')
    await session.prompt('waits')
    left.push(session)
  }
  const after = house(store, { maxProcesses: 4 })
  await after.sessions.recover()
  const resumed = after.sessions.resumeQueues()
  const owned = left[0]?.id ?? ''
  await expect.poll(async () => (await store.record(owned))?.openTurn).toBe(2)
  expect(after.driver.runs).toHaveLength(4)
  for (let run = 1; run <= 5; run++) {
    const process = await after.driver.run(run)
    process.onStop = () => process.die({ code: 0 })
    process.say(init, result('ok'))
    await after.time.pass(1_000)
  }
  await resumed
})
