import { expect, test } from 'vitest'
import type { Agent, Start } from '../../../src/agents/agent.ts'
import { claude } from '../../../src/agents/claude/agent.ts'
import { nothing } from '../../../src/agents/kit/decoded.ts'
import { MainstemError, type Policy } from '../../../src/model/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import { asks, house, init, result } from '../house.ts'

const { live, oneshot } = claude.launches
if (!live || !oneshot) throw new Error('claude has both launches')

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
  house(store, { known: [pliant], ...(limit && { limit }) })

const OPEN: Policy = { approval: 'auto-all', sandbox: 'none' }
const ASKING: Policy = { approval: 'ask', sandbox: 'none' }

test('a changed policy decides the next request, is logged, and is in the record', async () => {
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

test('a change applies to the next process', async () => {
  const { open, driver, store } = pliantHouse()
  const session = await open(OPEN, { options: { model: 'first' } })
  await session.prompt('one')
  const run = await driver.run(1)
  run.say(init, result('1'))
  await session.settled(1)
  await session.change({ type: 'set_model', model: 'second' })
  await session.change({ type: 'set_policy', policy: ASKING })
  run.die({ code: 0 })
  await expect.poll(() => session.place.idle).toBe(false)
  await session.prompt('two')
  const launch = JSON.stringify((await driver.run(2)).launch)
  expect(launch).toContain('second')
  expect(launch).not.toContain('first')
  const kept = await store.record(session.id)
  expect(kept).toMatchObject({ policy: ASKING, options: { model: 'second' } })
})

test('a one-shot process keeps its settings; the next one starts with the change', async () => {
  const { open, driver, store } = house()
  const session = await open(OPEN, { launch: 'oneshot', options: { model: 'first' } })
  await session.change({ type: 'set_model', model: 'second' })
  expect(driver.runs).toHaveLength(0)
  await session.prompt('one')
  const launch = JSON.stringify((await driver.run(1)).launch)
  expect(launch).toContain('second')
  expect(launch).not.toContain('first')
  expect(await store.record(session.id)).toMatchObject({ options: { model: 'second' } })
})

test('a mode of a one-shot launch becomes a policy, and is in the record', async () => {
  const { open, driver, store, log } = house()
  const session = await open({ ...OPEN, maxSteps: 5 }, { launch: 'oneshot' })
  await session.change({ type: 'set_policy', mode: 'plan' })
  const policy = { approval: 'ask', sandbox: 'read-only', maxSteps: 5 }
  expect((await log(session)).map(({ event }) => event)).toContainEqual({ type: 'session.updated', policy })
  expect(await store.record(session.id)).toMatchObject({ policy })
  await session.prompt('one')
  expect(JSON.stringify((await driver.run(1)).launch)).toContain('--permission-mode=plan')
})

test.each(['', '-p', '--model=x', 'plan\n', 'plan\0', 'plan\x9b', 'pl\u202ean', 'x'.repeat(201)])(
  'neither a mode nor a model is named %j',
  async (name) => {
    const { open, log } = house()
    const session = await open(OPEN)
    const before = await log(session)
    for (const command of [
      { type: 'set_policy', mode: name },
      { type: 'set_model', model: name },
    ] as const) {
      await expect(session.change(command)).rejects.toMatchObject({ code: 'invalid_request' })
    }
    expect(await log(session)).toEqual(before)
  },
)

test.each(['bypassPermissions', 'constructor'])(
  'a mode %s that stands for nothing is refused',
  async (mode) => {
    const { open } = house()
    const session = await open(ASKING, { launch: 'oneshot' })
    const change = session.change({ type: 'set_policy', mode })
    await expect(change).rejects.toMatchObject({ code: 'unsupported_option' })
  },
)

test('a setting that no one-shot process could be started with is refused at once', async () => {
  const launch = (start: Start) => {
    if (start.options.model === 'other') throw new MainstemError('invalid_request', 'no such model')
    return oneshot.launch(start)
  }
  const picky: Agent = { ...claude, launches: { oneshot: { ...oneshot, launch } } }
  const { open, store } = house(undefined, { known: [picky] })
  const session = await open(OPEN, { launch: 'oneshot', options: { model: 'first' } })
  const change = session.change({ type: 'set_model', model: 'other' })
  await expect(change).rejects.toMatchObject({ code: 'invalid_request' })
  expect(await store.record(session.id)).toMatchObject({ options: { model: 'first' } })
})

test('a policy or mode under which a hook may never be asked is refused, and the one before holds', async () => {
  const { open, store } = pliantHouse()
  const session = await open(ASKING, { options: { hooks: { beforeToolCall: { command: ['/bin/hook'] } } } })
  const change = session.change({ type: 'set_policy', policy: OPEN })
  await expect(change).rejects.toMatchObject({
    code: 'unsupported_option',
    message: expect.stringMatching(/beforeToolCall/),
  })
  const mode = session.change({ type: 'set_policy', mode: 'acceptEdits' })
  await expect(mode).rejects.toMatchObject({
    code: 'unsupported_option',
    message: expect.stringMatching(/beforeToolCall/),
  })
  expect(await store.record(session.id)).toMatchObject({ policy: ASKING })
})

test('a session keeps its changed policy under another owner', async () => {
  const own = pliantHouse()
  const session = await own.open(ASKING)
  await session.change({ type: 'set_policy', policy: OPEN })
  await session.suspend()
  const parts = pliantHouse(own.store)
  const next = await parts.sessions.open(session.id)
  await next.prompt('one')
  expect(JSON.stringify((await parts.driver.run()).launch)).toContain('skip-permissions')
})

test('a restored session is limited to what the configuration allows now', async () => {
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

test('a mode by its own name is in the record, and the process after this one starts in it', async () => {
  const { open, driver, store } = house()
  const session = await open(OPEN)
  await session.prompt('one')
  const run = await driver.run(1)
  run.say(init, result('1'))
  await session.settled(1)
  await session.change({ type: 'set_policy', mode: 'plan' })
  expect(await store.record(session.id)).toMatchObject({ policy: OPEN, mode: 'plan' })
  run.die({ code: 0 })
  await expect.poll(() => session.place.idle).toBe(false)
  await session.prompt('two')
  const launch = JSON.stringify((await driver.run(2)).launch)
  expect(launch).toContain('--permission-mode=plan')
  expect(launch).not.toContain('skip-permissions')
})

test('a mode that the agent has left by itself is not gone back to', async () => {
  const { open, driver, store } = house()
  const session = await open(ASKING)
  await session.prompt('one')
  const run = await driver.run(1)
  run.say({ ...init, permissionMode: 'default' })
  await session.change({ type: 'set_policy', mode: 'plan' })
  run.say({ type: 'system', subtype: 'status', permissionMode: 'acceptEdits' }, result('1'))
  await session.settled(1)
  // Another change does not bring it back.
  await session.change({ type: 'set_model', model: 'second' })
  expect(await store.record(session.id)).toMatchObject({ mode: 'acceptEdits' })
  run.die({ code: 0 })
  await expect.poll(() => session.place.idle).toBe(false)
  await session.prompt('two')
  expect(JSON.stringify((await driver.run(2)).launch)).toContain('--permission-mode=acceptEdits')
})

test.each([
  ['goes on in it', (policy: Policy) => policy, '--permission-mode=plan', 'plan'],
  ['does not, where not everything is allowed now', () => ASKING, '--permission-mode=default', undefined],
])('a session in a mode that has another owner %s', async (_, limit, flag, mode) => {
  const own = house()
  const session = await own.open(ASKING)
  await session.change({ type: 'set_policy', mode: 'plan' })
  await session.suspend()
  const next = house(own.store, { limit })
  const again = await next.sessions.open(session.id)
  await again.prompt('one')
  expect(JSON.stringify((await next.driver.run()).launch)).toContain(flag)
  expect((await own.store.record(session.id))?.mode).toBe(mode)
})

test('a new policy replaces the mode', async () => {
  const { open, store } = pliantHouse()
  const session = await open(ASKING)
  await session.change({ type: 'set_policy', mode: 'plan' })
  await session.change({ type: 'set_policy', policy: OPEN })
  expect((await store.record(session.id))?.mode).toBeUndefined()
})
