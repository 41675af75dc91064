import { expect, test } from 'vitest'
import type { Agent } from '../../../src/agents/agent.ts'
import { agents } from '../../../src/agents/index.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { house, init, result } from '../house.ts'

const ONESHOT = { launch: 'oneshot' } as const

function known(id: string): Agent {
  const found = agents.find((one) => one.id === id)
  if (!found) throw new TypeError(`there is no agent ${id}`)
  return found
}

/** A machine with this version of every program. */
function machine(version: string | undefined, store = memoryStore()) {
  return house(store, { versionOf: async () => version })
}

test('a program newer than the tested version raises a notice once, before its first output', async () => {
  const { open, driver, log } = machine('99.0.0')
  const session = await open({}, ONESHOT)
  for (const number of [1, 2]) {
    await session.prompt('hi')
    const run = await driver.run(number)
    run.say({ ...init, claude_code_version: '99.0.0' }, result('1'))
    run.die({ code: 0 })
    await session.settled(number)
  }
  const entries = await log(session)
  const notices = entries.filter(({ event }) => event.type === 'notice.raised')
  const { testedVersion } = known('claude')
  expect(notices).toMatchObject([
    {
      turn: 1,
      event: { code: 'untested_version', level: 'info', data: { version: '99.0.0', testedVersion } },
    },
  ])
  const types = entries.map(({ event }) => event.type)
  expect(types.slice(0, 4)).toEqual(['session.started', 'turn.started', 'notice.raised', 'session.updated'])
})

test('a version that only the handshake states raises the notice too', async () => {
  const { open, driver, log } = machine(undefined)
  const session = await open({}, ONESHOT)
  await session.prompt('hi')
  const run = await driver.run()
  run.say({ ...init, claude_code_version: '99.0.0' }, result('1'))
  run.die({ code: 0 })
  await session.settled(1)
  const codes = (await log(session)).flatMap(({ event }) =>
    event.type === 'notice.raised' ? [event.code] : [],
  )
  expect(codes).toEqual(['untested_version'])
})

test.each([known('claude').testedVersion, known('claude').oldestVersion, undefined])(
  'version %s raises no notice',
  async (version) => {
    const { open, driver, types } = machine(version)
    const session = await open({}, ONESHOT)
    await session.prompt('hi')
    const run = await driver.run()
    run.say(init, result('1'))
    run.die({ code: 0 })
    await session.settled(1)
    expect(await types(session)).not.toContain('notice.raised')
  },
)

test('OpenCode 2 is driven by its own server, in both launches', async () => {
  const { open, driver, log } = machine('2.1.3')
  const session = await open({}, { agent: 'opencode' })
  await session.prompt('hi')
  const run = await driver.run()
  expect(run.launch).toMatchObject({ kind: 'server', argv: ['opencode', 'serve', '--stdio'] })
  const notices = (await log(session)).filter(({ event }) => event.type === 'notice.raised')
  expect(notices).toMatchObject([
    { event: { code: 'untested_version', message: expect.stringContaining('verified by recordings') } },
  ])
  await open({}, { agent: 'opencode', ...ONESHOT })
})

test('a session of a launch that an upgrade removed is kept; its next prompt is refused', async () => {
  const store = memoryStore()
  const before = machine('1.18.33', store)
  const { id } = await before.open({}, { agent: 'opencode', ...ONESHOT })
  await before.sessions.drain()
  const opencode = known('opencode')
  const { oneshot: _, ...launches } = opencode.launches
  const upgraded: Agent = { ...opencode, atVersion: () => ({ launches }) }
  const after = house(store, { known: [upgraded], versionOf: async () => '2.1.3' })
  const session = await after.sessions.open(id)
  const turn = await session.prompt('hi')
  expect(await session.settled(turn)).toMatchObject({
    outcome: 'failed',
    error: { code: 'unsupported_option', message: 'opencode has no oneshot launch' },
  })
  await after.sessions.delete(id)
  expect(await store.record(id)).toBeUndefined()
})
