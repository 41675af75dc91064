import { describe, expect, test } from 'vitest'
import type { Session } from '../../../src/sessions/session.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { house, init, result, said } from '../house.ts'

const ONESHOT = { launch: 'oneshot' } as const
const LIVE = { launch: 'live' } as const
const RESUMED = { argv: expect.arrayContaining(['--resume=native-1']) }

const unknown = {
  type: 'result',
  subtype: 'error_during_execution',
  is_error: true,
  errors: ['No conversation found with session ID: native-1'],
}

async function losses(home: ReturnType<typeof house>, session: Session) {
  return (await home.log(session)).flatMap(({ turn, event }) =>
    event.type === 'notice.raised' && event.code === 'context_lost' ? [{ turn, message: event.message }] : [],
  )
}

/** A first turn that ends with its process, after the agent has named its session and before it works. */
async function crashed(home: ReturnType<typeof house>, launch: typeof ONESHOT | typeof LIVE) {
  const session = await home.open({}, launch)
  await session.prompt('one')
  const run = await home.driver.run(1)
  run.say(init)
  run.die({ signal: 'SIGKILL' })
  await session.settled(1)
  return session
}

describe.each([ONESHOT, LIVE])('an announced session, $launch', (launch) => {
  test('is resumed after a first turn that crashed', async () => {
    const home = house()
    const session = await crashed(home, launch)
    await session.prompt('two')
    expect((await home.driver.run(2)).launch).toMatchObject(RESUMED)
  })

  test('that the agent does not know: the same prompt goes to a new session, and the loss is reported', async () => {
    const home = house()
    const session = await crashed(home, launch)
    await session.prompt('two')
    const second = await home.driver.run(2)
    second.say(unknown)
    second.die({ code: 1 })
    const third = await home.driver.run(3)
    expect(JSON.stringify(third.launch)).not.toContain('--resume')
    expect(third.input).toContain('two')
    third.say({ ...init, session_id: 'native-2' }, said('2'), result('2'))
    third.die({ code: 0 })
    expect(await session.settled(2)).toMatchObject({ outcome: 'completed', result: '2' })
    expect(await losses(home, session)).toMatchObject([{ turn: 2 }])
    expect(session.nativeSessionId).toBe('native-2')
  })

  test('that the agent has worked in, but not stored when it ended: the same prompt goes to a new session', async () => {
    const home = house()
    const session = await home.open({}, launch)
    await session.prompt('one')
    const first = await home.driver.run(1)
    first.say(init, said('1'))
    first.die({ signal: 'SIGTERM' })
    await session.settled(1)
    await session.prompt('two')
    const second = await home.driver.run(2)
    expect(second.launch).toMatchObject(RESUMED)
    second.say(unknown)
    second.die({ code: 1 })
    const third = await home.driver.run(3)
    third.say({ ...init, session_id: 'native-2' }, said('2'), result('2'))
    third.die({ code: 0 })
    expect(await session.settled(2)).toMatchObject({ outcome: 'completed', result: '2' })
    expect(await losses(home, session)).toMatchObject([{ turn: 2 }])
  })

  test('that no process can open is tried once', async () => {
    const home = house()
    const session = await crashed(home, launch)
    await session.prompt('two')
    const second = await home.driver.run(2)
    expect(second.launch).toMatchObject(RESUMED)
    second.die({ code: 1 })
    expect(await session.settled(2)).toMatchObject({ outcome: 'crashed' })
    await session.prompt('three')
    expect(JSON.stringify((await home.driver.run(3)).launch)).not.toContain('--resume')
    expect(await losses(home, session)).toMatchObject([{ turn: 3 }])
  })

  test('is resumed by the next owner', async () => {
    const store = memoryStore()
    const before = house(store)
    const session = await before.open({}, launch)
    await session.prompt('one')
    const run = await before.driver.run(1)
    run.say(init)
    await expect.poll(() => before.types(session)).toContain('session.updated')
    const after = house(store)
    await after.sessions.recover()
    const again = await after.sessions.open(session.id)
    await again.prompt('two')
    expect((await after.driver.run(1)).launch).toMatchObject(RESUMED)
  })

  test('is not retried after an interrupt', async () => {
    const home = house()
    const session = await crashed(home, launch)
    await session.prompt('two')
    const second = await home.driver.run(2)
    second.onStop = () => {
      second.say(unknown)
      second.die({ code: 1 })
    }
    const stopped = session.interrupt()
    await expect
      .poll(async () => {
        await home.time.pass(10_000)
        return second.stops
      })
      .toBe(1)
    await stopped
    expect(await session.settled(2)).toMatchObject({ outcome: 'interrupted' })
    expect(home.driver.runs).toHaveLength(2)
  })
})

test('a resume that is refused by a warm process is repeated with a new session', async () => {
  const home = house()
  const session = await home.open({}, { agent: 'codex', ...LIVE })
  const speak = (run: Awaited<ReturnType<typeof home.driver.run>>, id: number, answer: object) =>
    run.say({ id: `c${id}`, ...answer })
  await session.prompt('one')
  const first = await home.driver.run(1)
  speak(first, 1, { result: {} })
  speak(first, 2, { result: { thread: { id: 'native-1' } } })
  await expect.poll(() => home.types(session)).toContain('session.updated')
  first.die({ signal: 'SIGKILL' })
  await session.settled(1)
  await session.place.warm()
  const second = await home.driver.run(2)
  speak(second, 1, { result: {} })
  speak(second, 2, { error: { code: -32600, message: 'no rollout found' } })
  await expect.poll(() => home.types(session)).toContain('notice.raised')
  await session.prompt('two')
  const third = await home.driver.run(3)
  expect(second.stops).toBe(1)
  speak(third, 1, { result: {} })
  await expect.poll(() => third.input).toContain('thread/start')
  speak(third, 2, { result: { thread: { id: 'native-2' } } })
  await expect.poll(() => third.input).toContain('two')
  expect(await losses(home, session)).toMatchObject([{ turn: 2 }])
})

test('a proven session that is gone fails its turn, and the next turn reports the loss', async () => {
  const home = house()
  const session = await home.open({}, ONESHOT)
  await session.prompt('one')
  const first = await home.driver.run(1)
  first.say(init, said('1'), result('1'))
  first.die({ code: 0 })
  await session.settled(1)
  await session.prompt('two')
  const second = await home.driver.run(2)
  second.say(unknown)
  second.die({ code: 1 })
  expect(await session.settled(2)).toMatchObject({ outcome: 'failed', error: { code: 'session_not_found' } })
  expect(await losses(home, session)).toEqual([])
  await session.prompt('three')
  await home.driver.run(3)
  expect(await losses(home, session)).toMatchObject([{ turn: 3 }])
})

test('a process that opens another session than the one it was to resume reports the loss', async () => {
  const home = house()
  const session = await home.open({}, { ...LIVE, resume: 'native-0' })
  await session.prompt('one')
  const run = await home.driver.run(1)
  run.say(init, result('1'))
  await session.settled(1)
  const [lost] = await losses(home, session)
  expect(lost?.message).toContain('native-0')
  expect(lost?.message).toContain('native-1')
})

test('a prompt that may not have reached the agent is reported with the next one', async () => {
  const home = house()
  const session = await home.open({}, ONESHOT)
  await session.prompt('one')
  const first = await home.driver.run(1)
  first.say(init, said('1'), result('1'))
  first.die({ code: 0 })
  await session.settled(1)
  await session.prompt('two')
  await home.driver.run(2)
  await session.interrupt()
  expect(await losses(home, session)).toEqual([])
  await session.prompt('three')
  expect((await home.driver.run(3)).launch).toMatchObject(RESUMED)
  expect(await losses(home, session)).toMatchObject([{ turn: 3, message: expect.stringContaining('Turn 2') }])
})

test('a prompt that is stopped before it is sent is reported with the next one', async () => {
  const home = house()
  const session = await home.open({}, { agent: 'codex', ...LIVE })
  await session.prompt('one')
  await home.driver.run(1)
  await session.interrupt()
  expect(await session.settled(1)).toMatchObject({ outcome: 'interrupted' })
  await session.prompt('two')
  expect(await losses(home, session)).toMatchObject([{ turn: 2, message: expect.stringContaining('Turn 1') }])
})

test('a process that cannot be started loses nothing', async () => {
  const home = house()
  const session = await home.open({}, ONESHOT)
  await session.prompt('one')
  const first = await home.driver.run(1)
  first.die({ error: { code: 'agent_not_found', message: 'claude: not found' } })
  await session.settled(1)
  await session.prompt('two')
  await home.driver.run(2)
  expect(await losses(home, session)).toEqual([])
})

test('an agent without a memory loses none', async () => {
  const home = house()
  const session = await home.open({}, { agent: 'echo', ...ONESHOT })
  for (const turn of [1, 2]) {
    await session.prompt('one')
    const run = await home.driver.run(turn)
    run.say('one')
    run.die({ code: 0 })
    await session.settled(turn)
  }
  expect(await losses(home, session)).toEqual([])
})

test('a prompt does not go to a process that is being stopped', async () => {
  const home = house()
  const session = await home.open({}, LIVE)
  await session.prompt('one')
  const first = await home.driver.run(1)
  first.say(init, said('1'))
  // It confirms the interrupt only after we have given up waiting, and takes a while to end.
  first.onStop = () => first.say({ type: 'result', subtype: 'error_during_execution', is_error: true })
  const stopped = session.interrupt()
  await expect
    .poll(async () => {
      await home.time.pass(10_000)
      return first.stops
    })
    .toBe(1)
  await session.settled(1)
  const turn = await session.prompt('two')
  expect(first.input).not.toContain('two')
  first.die({ signal: 'SIGTERM' })
  await stopped
  const second = await home.driver.run(2)
  expect(second.launch).toMatchObject(RESUMED)
  await expect.poll(() => second.input).toContain('two')
  second.say(init, result('2'))
  expect(await session.settled(turn)).toMatchObject({ outcome: 'completed' })
})

test('an agent that drops the prompt of a cancelled turn reports it with the next one', async () => {
  const home = house()
  const session = await home.open({}, { agent: 'gemini', ...LIVE })
  const answer = (id: number, result: object) => ({ jsonrpc: '2.0', id, result })
  await session.prompt('one')
  const run = await home.driver.run(1)
  run.say(answer(1, { protocolVersion: 1, agentCapabilities: {} }), answer(2, { sessionId: 'native-1' }))
  await expect.poll(() => run.input).toContain('session/prompt')
  const stopped = session.interrupt()
  await expect.poll(() => run.input).toContain('session/cancel')
  run.say(answer(3, { stopReason: 'cancelled' }))
  await stopped
  await session.prompt('two')
  expect(await losses(home, session)).toMatchObject([{ turn: 2, message: expect.stringContaining('turn 1') }])
})

test('an agent that stops its model without a tool drops the prompt too, and that is reported', async () => {
  const home = house()
  const session = await home.open({}, { agent: 'gemini', ...LIVE })
  const answer = (id: number, result: object) => ({ jsonrpc: '2.0', id, result })
  await session.prompt('one')
  const run = await home.driver.run(1)
  run.say(answer(1, { protocolVersion: 1, agentCapabilities: {} }), answer(2, { sessionId: 'native-1' }))
  await expect.poll(() => run.input).toContain('session/prompt')
  run.say(answer(3, { stopReason: 'max_turn_requests' }))
  expect(await session.settled(1)).toMatchObject({ outcome: 'max_steps' })
  await session.prompt('two')
  expect(await losses(home, session)).toMatchObject([{ turn: 2, message: expect.stringContaining('turn 1') }])
})
