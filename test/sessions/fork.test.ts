import { expect, test } from 'vitest'
import { forkRequest } from '../../src/model/session/fork-request.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { house, init, result, said } from './house.ts'

/** A session with one finished turn, and its house. */
async function begun() {
  const store = memoryStore()
  const { open, driver, sessions } = house(store)
  const session = await open()
  await session.prompt('one')
  const run = await driver.run()
  run.say(init, said('1'), result('1'))
  await session.settled(1)
  const record = await store.record(session.id)
  if (!record) throw new Error('the session has no record')
  return { store, driver, sessions, session, record }
}

const COPY = { ...init, session_id: 'native-2' }

test('a fork resumes the conversation as a copy, and the id of the copy is no loss', async () => {
  const { store, driver, sessions, record } = await begun()
  const copy = await sessions.create(forkRequest(record, 'copy'))
  await copy.prompt('two')
  const run = await driver.run(2)
  expect(run.launch).toMatchObject({
    argv: expect.arrayContaining(['--resume=native-1', '--fork-session']),
  })
  run.say(COPY, said('2'), result('2'))
  await copy.settled(1)
  expect(copy.nativeSessionId).toBe('native-2')
  const entries = await store.read(copy.id, 0, 100)
  expect(entries.map(({ event }) => event.type)).not.toContain('notice.raised')
  expect(await store.record(copy.id)).toMatchObject({ name: 'copy', fork: true, resumedFrom: 'native-1' })
})

test('the next process of a fork resumes the copy, also after a restart', async () => {
  const { store, driver, sessions, record } = await begun()
  const copy = await sessions.create(forkRequest(record))
  await copy.prompt('two')
  const run = await driver.run(2)
  run.say(COPY, said('2'), result('2'))
  await copy.settled(1)

  const after = house(store)
  await after.sessions.recover()
  const restored = await after.sessions.open(copy.id)
  await restored.prompt('three')
  const { launch } = await after.driver.run()
  expect(launch).toMatchObject({ argv: expect.arrayContaining(['--resume=native-2']) })
  expect(launch).not.toMatchObject({ argv: expect.arrayContaining(['--fork-session']) })
})

test('a session without a conversation, or with an open turn, is not forked', async () => {
  const { record } = await begun()
  const { nativeSessionId: _, ...empty } = record
  expect(() => forkRequest(empty)).toThrow(/no conversation yet/)
  expect(() => forkRequest({ ...record, openTurn: 2 })).toThrow(/is running/)
})

test.each([
  ['fork', { agent: 'gemini', resume: 'native-1', fork: true }, 'unsupported_option'],
  ['a fork of nothing', { agent: 'claude', fork: true }, 'invalid_request'],
])('%s is refused where it cannot work', async (_name, request, code) => {
  const { sessions } = house()
  const policy = { approval: 'ask', sandbox: 'none' } as const
  await expect(sessions.create({ cwd: '/project', policy, ...request })).rejects.toMatchObject({ code })
})

test('a command that an agent would take for text is refused', async () => {
  const { sessions } = house()
  const policy = { approval: 'ask', sandbox: 'none' } as const
  for (const [agent, prompt] of [
    ['gemini', '/compact'],
    ['opencode', '/review'],
    ['pi', '/review'],
  ] as const) {
    const session = await sessions.create({ agent, cwd: '/project', policy })
    await expect(session.prompt(prompt)).rejects.toMatchObject({ code: 'unsupported_option' })
  }
})
