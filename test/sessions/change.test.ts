import { expect, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import { claude } from '../../src/agents/claude/agent.ts'
import { nothing } from '../../src/agents/step.ts'
import type { Policy } from '../../src/model/index.ts'
import type { Store } from '../../src/stores/store.ts'
import { asks, house, init, result } from './house.ts'

const { live } = claude.launches
if (!live) throw new Error('claude has a live launch')

/** Claude, if it took a policy while it runs. */
const pliant: Agent = {
  ...claude,
  launches: {
    live: {
      ...live,
      codec: {
        ...live.codec,
        encode: (state, command) =>
          command.type === 'set_policy' ? nothing : live.codec.encode(state, command),
      },
    },
  },
}
const pliantHouse = (store?: Store, limit?: (policy: Policy) => Policy) =>
  house(store, 10, undefined, [pliant], limit)

const OPEN: Policy = { approval: 'auto-all', sandbox: 'none' }
const ASKING: Policy = { approval: 'ask', sandbox: 'none' }

test('a policy that was changed decides the next request, is told, and is in the record', async () => {
  const { open, driver, log, store } = pliantHouse()
  const session = await open(ASKING)
  await session.prompt('one')
  const run = await driver.run()
  run.say(init, asks('r1'))
  await expect.poll(async () => (await store.record(session.id))?.requests.length).toBe(1)
  await session.change({ type: 'set_policy', policy: OPEN })
  run.say(asks('r2'))
  const resolved = async () =>
    (await log(session)).flatMap(({ event }) => (event.type === 'request.resolved' ? [event] : []))
  await expect.poll(resolved).toMatchObject([{ requestId: 'e1.r2', decision: 'allow', by: 'policy' }])
  expect((await store.record(session.id))?.policy).toEqual(OPEN)
  const told = (await log(session)).map(({ event }) => event)
  expect(told).toContainEqual({ type: 'session.updated', policy: OPEN })
})

test('what was changed holds for the process after this one', async () => {
  const { open, driver, store } = pliantHouse()
  const session = await open(OPEN, { options: { model: 'first' } })
  await session.prompt('one')
  const run = await driver.run(1)
  run.say(init, result('1'))
  await session.settled(1)
  await session.change({ type: 'set_model', model: 'second' })
  await session.change({ type: 'set_policy', policy: ASKING })
  run.die({ code: 0 })
  await expect.poll(() => session.idle).toBe(false)
  await session.prompt('two')
  const launch = JSON.stringify((await driver.run(2)).launch)
  expect(launch).toContain('second')
  expect(launch).not.toContain('first')
  const kept = await store.record(session.id)
  expect(kept).toMatchObject({ policy: ASKING, options: { model: 'second' } })
})

test('a session that goes on under another owner has the policy it was changed to', async () => {
  const own = pliantHouse()
  const session = await own.open(ASKING)
  await session.change({ type: 'set_policy', policy: OPEN })
  ;(await own.driver.run()).die({ code: 0 })
  await session.suspend()
  const parts = pliantHouse(own.store)
  const next = await parts.sessions.open(session.id)
  await next.prompt('one')
  expect(JSON.stringify((await parts.driver.run()).launch)).toContain('skip-permissions')
})

test('a session that goes on is held to what is allowed now', async () => {
  const own = pliantHouse()
  const session = await own.open(OPEN)
  await session.suspend()
  const { sessions, driver } = pliantHouse(own.store, () => ASKING)
  const again = await sessions.open(session.id)
  expect(again).toBeDefined()
  await again.prompt('one')
  const run = await driver.run()
  run.say(init, asks('r1'))
  await expect.poll(async () => (await own.store.record(session.id))?.requests.length).toBe(1)
  expect((await own.store.record(session.id))?.policy).toEqual(ASKING)
})
