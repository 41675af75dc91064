import { expect, test } from 'vitest'
import { memoryStore } from '../../../src/stores/memory.ts'
import { violations } from '../../agents/invariants.ts'
import { FakeTime } from '../fake-driver.ts'
import { init, result, said } from '../house.ts'
import { drained, HOUR, limitOf, promptsIn, refused, server } from './server.ts'

test('after a used-up limit another agent continues at once, told of the work before', async () => {
  const { sessions, begin, nextRun, log, store, time } = server()
  const { session, run } = await begin({ onLimit: { continueAs: 'gemini' } }, 'Write the parser')
  run.onWrite = ({ kind }) => void (kind === 'end' && run.die({ code: 0 }))
  limitOf(run, time.now + 4 * HOUR)
  await session.settled(1)
  expect((await store.record(session.id))?.queue).toMatchObject([
    { continuation: { reason: 'limit', agent: 'gemini', attempt: 1, at: time.now } },
  ])
  const gemini = await nextRun(2)
  expect(gemini.launch).toMatchObject({ argv: expect.arrayContaining(['gemini']) })
  expect(await store.record(session.id)).toMatchObject({ agent: 'gemini', openTurn: 2, queue: [] })
  const events = (await log(session)).map(({ event }) => event)
  expect(events.find(({ type }) => type === 'session.handed_over')).toMatchObject({
    recap: expect.stringContaining('Prompt: Write the parser'),
  })
  expect(promptsIn(await log(session))[1]).toContain(
    'a usage limit ended the last turn of the agent before you',
  )
  // The agent that took over waits for its own limits as the session asks: it has no successor.
  gemini.die({ code: 1 })
  await (await sessions.open(session.id)).settled(2)
  expect((await store.record(session.id))?.queue).toEqual([])
})

test('another agent takes over once, also if the process of the one before takes its time to end', async () => {
  const store = memoryStore()
  const read = store.readTypes.bind(store)
  const reading = Promise.withResolvers<void>()
  store.readTypes = async (...of) => {
    await reading.promise
    return read(...of)
  }
  const { begin, time, nextRun, log, driver } = server(store)
  const { session, run } = await begin({ onLimit: { continueAs: 'gemini' } })
  let isToldToEnd = false
  run.onWrite = ({ kind }) => {
    isToldToEnd ||= kind === 'end'
  }
  limitOf(run, time.now + HOUR)
  await session.settled(1)
  await time.pass(0)
  await expect.poll(() => isToldToEnd).toBe(true)
  run.die({ code: 0 })
  await time.pass(2_000)
  reading.resolve()
  await nextRun(2)
  const types = (await log(session)).map(({ event }) => event.type)
  expect(types.filter((type) => type === 'session.handed_over')).toHaveLength(1)
  expect(driver.runs).toHaveLength(2)
})

test('an agent that cannot continue is refused when the session begins, and reported if it was removed since', async () => {
  const { open, store, begin, time, sessions } = server()
  const unknown = open({}, { options: { onLimit: { continueAs: 'codx' } } })
  await expect(unknown).rejects.toMatchObject({ code: 'agent_not_found' })
  const unable = open({ approval: 'auto-edit' }, { options: { onLimit: { continueAs: 'codex' } } })
  await expect(unable).rejects.toMatchObject({ code: 'unsupported_option' })
  const { session, run } = await begin({ onLimit: { continueAs: 'codex' } })
  await session.change({ type: 'set_policy', policy: { approval: 'auto-edit', sandbox: 'none' } })
  run.onWrite = ({ kind }) => void (kind === 'end' && run.die({ code: 0 }))
  limitOf(run, time.now + HOUR)
  await session.settled(1)
  await time.pass(1_000)
  await expect.poll(async () => (await store.record(session.id))?.queue).toEqual([])
  const notices = (await store.read(session.id, 0, 100)).flatMap(({ event }) =>
    event.type === 'notice.raised' && event.code === 'not_continued' ? [event.message] : [],
  )
  expect(notices).toEqual([expect.stringContaining('codex cannot continue')])
  expect(await (await sessions.open(session.id)).prompt('two')).toBe(3)
})

test('a turn that a used-up limit ended is continued once, after the limit has reset', async () => {
  const { begin, time, log, store, driver } = server()
  const { session, run } = await begin({ onLimit: 'wait' })
  const resetsAt = time.now + 4 * HOUR
  limitOf(run, resetsAt)
  await session.settled(1)
  const [waiting] = (await store.record(session.id))?.queue ?? []
  expect(waiting).toMatchObject({
    turn: 2,
    continuation: { reason: 'limit', after: 1, attempt: 1, of: 3, until: expect.any(Number) },
  })
  expect(waiting?.continuation?.at).toBeGreaterThanOrEqual(resetsAt - 1000)
  const types = (await log(session)).map(({ event }) => event.type)
  expect(types.indexOf('turn.queued')).toBe(types.indexOf('turn.completed') - 1)

  await time.pass(4 * HOUR - 2_000)
  expect(driver.runs.filter(({ isAlive }) => isAlive)).toEqual([])
  await time.pass(3_000)
  const second = await driver.run(2)
  second.say(init, said('done'), result('done'))
  expect(await session.settled(2)).toMatchObject({ outcome: 'completed' })
  expect(promptsIn(await log(session))).toEqual(['one', expect.stringContaining('usage limit')])
  expect(violations(await log(session))).toEqual([])
  expect(await store.record(session.id)).toMatchObject({ queue: [] })
  await time.pass(24 * HOUR)
  expect(promptsIn(await log(session))).toHaveLength(2)
})

test('a limit without a known reset is tried again after half an hour', async () => {
  const { begin, time, store } = server()
  const { session, run } = await begin({ onLimit: 'wait' })
  run.say(init, refused)
  await session.settled(1)
  const at = (await store.record(session.id))?.queue[0]?.continuation?.at ?? 0
  expect(at - time.now).toBe(HOUR / 2)
})

test('continuations end at their cap, and the log says so', async () => {
  const { begin, time, log, nextRun } = server()
  const { session, run } = await begin({ onLimit: 'wait', continuations: { max: 2 } })
  limitOf(run, time.now + HOUR)
  await session.settled(1)
  for (const turn of [2, 3]) {
    limitOf(await nextRun(turn), time.now + HOUR / 2)
    await session.settled(turn)
  }
  await time.pass(24 * HOUR)
  const entries = await log(session)
  expect(promptsIn(entries)).toHaveLength(3)
  expect(entries.map(({ event }) => event)).toContainEqual(
    expect.objectContaining({ code: 'not_continued', message: expect.stringContaining('2 times') }),
  )
  expect(violations(entries)).toEqual([])
})

test('a reset after the latest time is not waited for', async () => {
  const { begin, time, log, store } = server()
  const { session, run } = await begin({ onLimit: 'wait', continuations: { withinMs: HOUR } })
  limitOf(run, time.now + 2 * HOUR)
  await session.settled(1)
  expect((await store.record(session.id))?.queue).toEqual([])
  expect((await log(session)).map(({ event }) => event)).toContainEqual(
    expect.objectContaining({ code: 'not_continued' }),
  )
})

test('a continuation that a stopped server missed ends as timeout', async () => {
  const store = memoryStore()
  const time = new FakeTime()
  const before = server(store, time)
  const { session, run } = await before.begin({ onLimit: 'wait', continuations: { withinMs: 2 * HOUR } })
  limitOf(run, time.now + HOUR)
  await session.settled(1)
  await drained(before)
  await time.pass(3 * HOUR)
  const after = server(store, time)
  await after.sessions.recover()
  await after.sessions.resumeQueues()
  await time.pass(1_000)
  const reopened = await after.sessions.open(session.id)
  expect(await reopened.settled(2)).toMatchObject({ outcome: 'timeout', error: { code: 'timeout' } })
  expect(after.driver.runs).toEqual([])
})

test('the next server continues at the time that the last one planned', async () => {
  const store = memoryStore()
  const time = new FakeTime()
  const before = server(store, time)
  const { session, run } = await before.begin({ onLimit: 'wait' })
  limitOf(run, time.now + 2 * HOUR)
  await session.settled(1)
  await drained(before)
  await time.pass(HOUR)
  const after = server(store, time)
  await after.sessions.recover()
  await after.sessions.resumeQueues()
  await time.pass(HOUR - 5_000)
  expect(after.driver.runs).toEqual([])
  await time.pass(10_000)
  const next = await after.driver.run()
  next.say(init, said('done'), result('done'))
  const reopened = await after.sessions.open(session.id)
  expect(await reopened.settled(2)).toMatchObject({ outcome: 'completed' })
  // The native conversation is the one from before.
  expect(JSON.stringify(next.launch)).toContain('native-1')
})

test('an interrupt cancels the continuation', async () => {
  const { begin, time, log, store, driver } = server()
  const { session, run } = await begin({ onLimit: 'wait' })
  limitOf(run, time.now + HOUR)
  await session.settled(1)
  await session.interrupt()
  expect(await session.settled(2)).toMatchObject({ outcome: 'interrupted' })
  expect((await store.record(session.id))?.queue).toEqual([])
  await time.pass(24 * HOUR)
  expect(promptsIn(await log(session))).toEqual(['one'])
  expect(driver.runs).toHaveLength(1)
})

test('a prompt of a person replaces the continuation, and starts the count anew', async () => {
  const { begin, time, log, store, driver } = server()
  const { session, run } = await begin({ onLimit: 'wait' })
  limitOf(run, time.now + HOUR)
  await session.settled(1)
  expect(await session.prompt('two')).toBe(3)
  expect(await session.settled(2)).toMatchObject({ outcome: 'interrupted' })
  limitOf(run.isAlive ? run : await driver.run(2), time.now + HOUR)
  await session.settled(3)
  expect((await store.record(session.id))?.queue).toMatchObject([
    { turn: 4, continuation: { after: 3, attempt: 1 } },
  ])
  expect(promptsIn(await log(session))).toEqual(['one', 'two'])
  expect(violations(await log(session))).toEqual([])
})

test('prompts that were queued before wait for the continuation, and run after it', async () => {
  const { begin, time, log, driver } = server()
  const { session, run } = await begin({ onLimit: 'wait' })
  await session.prompt('two')
  limitOf(run, time.now + HOUR)
  await session.settled(1)
  await time.pass(HOUR / 2)
  expect(promptsIn(await log(session))).toEqual(['one'])
  await time.pass(HOUR)
  const next = driver.runs.at(-1) ?? run
  next.say(init, said('done'), result('done'))
  await session.settled(3)
  next.say(said('more', 'msg_2'), result('more'))
  await session.settled(2)
  expect(promptsIn(await log(session))).toEqual(['one', expect.stringContaining('limit'), 'two'])
  expect(violations(await log(session))).toEqual([])
})

test('nothing continues without being asked for', async () => {
  const { begin, time, log, store, driver } = server()
  const { session, run } = await begin({})
  limitOf(run, time.now + HOUR)
  await session.settled(1)
  await session.prompt('two')
  const next = run.isAlive ? run : await driver.run(2)
  next.die({ signal: 'SIGKILL' })
  await session.settled(2)
  await time.pass(24 * HOUR)
  expect((await store.record(session.id))?.queue).toEqual([])
  expect(promptsIn(await log(session))).toEqual(['one', 'two'])
})

test('a continuation names the person whose prompt was cut off, also after a restart', async () => {
  const { open, driver, time, store, log } = server()
  const actor = { principal: 'alice', client: 'page' } as const
  const session = await open({}, { options: { onLimit: 'wait' } })
  await session.prompt('one', [], { actor })
  limitOf(await driver.run(), time.now + HOUR)
  await session.settled(1)
  const next = server(store, time)
  await next.sessions.recover()
  await next.sessions.resumeQueues()
  await next.nextRun(1)
  const starts = (await log(session)).flatMap(({ event }) =>
    event.type === 'turn.started' || event.type === 'turn.queued'
      ? [[event.type, event.turn, event.principal]]
      : [],
  )
  expect(starts).toEqual([
    ['turn.started', 1, 'alice'],
    ['turn.queued', 2, 'alice'],
    ['turn.started', 2, 'alice'],
  ])
})
