import { expect, test } from 'vitest'
import { MainstemError } from '../../src/model/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { asks, house, init, result, said } from './house.ts'
import { bound } from './turns/bound-answer.ts'

const ONESHOT = { launch: 'oneshot' } as const

test('a one-shot turn: the prompt goes in by stdin, the exit ends it', async () => {
  const { open, driver, types } = house()
  const session = await open({}, ONESHOT)
  const turn = await session.prompt('--not-a-flag')
  const run = await driver.run()
  expect(run.written).toEqual([{ kind: 'text', text: '--not-a-flag' }, { kind: 'end' }])
  expect(run.launch).toMatchObject({ kind: 'process', argv: expect.not.arrayContaining(['--not-a-flag']) })
  run.say(init, said('hi'), result('hi'))
  run.die({ code: 0 })
  expect(await session.settled(turn)).toMatchObject({ turn: 1, outcome: 'completed', result: 'hi' })
  expect(await types(session)).toEqual([
    'session.started',
    'turn.started',
    'session.updated',
    'text.completed',
    'turn.completed',
  ])
})

test('the next one-shot turn resumes the native session in a new process', async () => {
  const { open, driver } = house()
  const session = await open({}, ONESHOT)
  await session.prompt('one')
  const first = await driver.run(1)
  first.say(init, result('1'))
  first.die({ code: 0 })
  await session.settled(1)
  await session.prompt('two')
  const second = await driver.run(2)
  expect(second.launch).toMatchObject({ argv: expect.arrayContaining(['--resume=native-1']) })
  expect(second.context.runId).toBe(`${session.id}.2`)
})

test('a native session id that looks like a flag is never resumed', async () => {
  const { open, driver } = house()
  const session = await open({}, ONESHOT)
  await session.prompt('one')
  const first = await driver.run(1)
  first.say({ ...init, session_id: '--dangerously-skip-permissions' }, result('1'))
  first.die({ code: 0 })
  await session.settled(1)
  await session.prompt('two')
  const { launch } = await driver.run(2)
  expect(JSON.stringify(launch)).not.toContain('--resume')
  expect(JSON.stringify(launch)).not.toContain('dangerously')
})

test('a live process takes many turns, and prompts wait for each other', async () => {
  const { open, driver, log } = house()
  const session = await open()
  const turns = await Promise.all([session.prompt('one'), session.prompt('two'), session.prompt('three')])
  expect(turns).toEqual([1, 2, 3])
  const run = await driver.run()
  for (const turn of turns) {
    run.say(init, result(`${turn}`))
    expect(await session.settled(turn)).toMatchObject({ turn, outcome: 'completed', result: `${turn}` })
  }
  expect(driver.runs).toHaveLength(1)
  const queued = (await log(session)).flatMap(({ event }) => (event.type === 'turn.queued' ? [event] : []))
  expect(queued).toMatchObject([
    { turn: 2, prompt: 'two', position: 1 },
    { turn: 3, prompt: 'three', position: 2 },
  ])
})

test('a crash between turns is not seen; the next turn has a new process', async () => {
  const { open, driver } = house()
  const session = await open()
  await session.prompt('one')
  const first = await driver.run(1)
  first.say(init, result('1'))
  await session.settled(1)
  first.die({ signal: 'SIGKILL' })
  await new Promise((resolve) => setImmediate(resolve))
  await session.prompt('two')
  const second = await driver.run(2)
  second.say(init, result('2'))
  expect(await session.settled(2)).toMatchObject({ outcome: 'completed' })
})

test('a process that dies during a turn crashes that turn, and the queue continues', async () => {
  const { open, driver } = house()
  const session = await open()
  await session.prompt('one')
  await session.prompt('two')
  const first = await driver.run(1)
  first.say(init, said('half'))
  first.die({ code: 0 })
  expect(await session.settled(1)).toMatchObject({ outcome: 'crashed', exit: { code: 0 } })
  const second = await driver.run(2)
  second.say(init, result('2'))
  expect(await session.settled(2)).toMatchObject({ outcome: 'completed' })
})

test('an interrupt is sent by protocol first, then by signal', async () => {
  const { open, driver, time } = house()
  const session = await open()
  await session.prompt('one')
  const run = await driver.run()
  run.say(init)
  const interrupted = session.interrupt()
  await expect.poll(() => run.input).toContain('"subtype":"interrupt"')
  expect(run.stops).toBe(0)
  await time.pass(2_000)
  await interrupted
  expect(run.stops).toBe(1)
  expect(await session.settled(1)).toMatchObject({ outcome: 'interrupted' })
})

test('a result that beats the interrupt stands, and the log says so', async () => {
  const { open, driver, log } = house()
  const session = await open()
  await session.prompt('one')
  const run = await driver.run()
  const interrupted = session.interrupt()
  run.say(init, result('done'))
  await interrupted
  expect(run.stops).toBe(0)
  expect(await session.settled(1)).toMatchObject({ outcome: 'completed', result: 'done' })
  expect((await log(session)).map(({ event }) => event)).toContainEqual(
    expect.objectContaining({ type: 'notice.raised', code: 'interrupt_refused' }),
  )
})

test('a turn that takes too long times out', async () => {
  const { open, driver, time } = house()
  const session = await open({ timeoutMs: 60_000 }, ONESHOT)
  await session.prompt('one')
  const run = await driver.run()
  await time.pass(59_999)
  expect(run.stops).toBe(0)
  await time.pass(1)
  expect(await session.settled(1)).toMatchObject({ outcome: 'timeout', error: { code: 'timeout' } })
})

test('silence times out, but waiting for a person is not silence', async () => {
  const { open, driver, time, store } = house()
  const session = await open({ idleTimeoutMs: 1_000 })
  await session.prompt('one')
  const run = await driver.run()
  run.say(init, asks('a'))
  await expect.poll(() => session.coverage.frames).toBe(2)
  await time.pass(10_000)
  expect(run.stops).toBe(0)
  await session.answer(
    await bound(store, session.id, { type: 'answer', requestId: 'e1.a', decision: 'allow' }),
  )
  await time.pass(4_000)
  expect(await session.settled(1)).toMatchObject({ outcome: 'timeout' })
})

test('if no person can answer, a request is denied, and so is the turn that needed it', async () => {
  const { open, driver, log } = house()
  const session = await open({}, { attended: false })
  await session.prompt('one')
  const run = await driver.run()
  run.say(init, {
    ...said(''),
    message: { id: 'm', content: [{ type: 'tool_use', id: 'tool-a', name: 'Bash', input: {} }] },
  })
  run.say(asks('a'))
  await expect.poll(() => run.input).toContain('"behavior":"deny"')
  run.say({
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: 'tool-a', content: 'no', is_error: true }] },
  })
  run.say(result('could not'))
  expect(await session.settled(1)).toMatchObject({ outcome: 'denied', denials: 1 })
  const events = (await log(session)).map(({ event }) => event)
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'request.resolved', decision: 'deny', by: 'policy' }),
  )
})

test('auto-all answers permissions by policy, and never a question', async () => {
  const { open, driver } = house()
  const session = await open({ approval: 'auto-all' })
  await session.prompt('one')
  const run = await driver.run()
  run.say(init, asks('a'), asks('q', 'AskUserQuestion'))
  await expect.poll(() => run.input).toContain('"behavior":"allow"')
  expect(run.input).not.toContain('"request_id":"q"')
})

test('a failed commit shows no entry and resolves no promise', async () => {
  const store = memoryStore()
  const { open, driver } = house(store)
  const session = await open({}, ONESHOT)
  await session.prompt('one')
  const run = await driver.run()
  store.append = async () => {
    throw new MainstemError('storage_failed', 'the disk is full')
  }
  run.say(init, result('1'))
  await expect(session.settled(1)).rejects.toMatchObject({ code: 'storage_failed' })
  expect(run.stops).toBe(1)
  expect(await store.head(session.id)).toBe(2)
})

test('ending a session drops what waits, stops what runs and closes the log', async () => {
  const { open, driver, sessions, types } = house()
  const session = await open()
  await session.prompt('one')
  await session.prompt('two')
  const run = await driver.run()
  run.say(init)
  run.onStop = () => run.die({ code: 0 })
  const ended = sessions.end(session.id)
  await expect.poll(() => run.input).toContain('"subtype":"interrupt"')
  run.say({
    type: 'result',
    subtype: 'error_during_execution',
    is_error: true,
    terminal_reason: 'aborted_streaming',
  })
  await expect.poll(() => run.written).toContainEqual({ kind: 'end' })
  run.die({ code: 0 })
  await ended
  expect(await session.settled(2)).toMatchObject({ outcome: 'interrupted', durationMs: 0 })
  expect((await types(session)).at(-1)).toBe('session.ended')
  await expect(session.prompt('three')).rejects.toMatchObject({ code: 'conflict' })
})

test('a turn that still waits can be stopped without touching the one that runs', async () => {
  const { open, driver } = house()
  const session = await open()
  await session.prompt('one')
  await session.prompt('two')
  await session.prompt('three')
  await session.interrupt(2)
  expect(await session.settled(2)).toMatchObject({ outcome: 'interrupted', durationMs: 0 })
  const run = await driver.run()
  run.say(init, result('1'))
  expect(await session.settled(1)).toMatchObject({ outcome: 'completed' })
  await expect.poll(() => run.input).toContain('three')
  expect(run.input).not.toContain('two')
  await session.interrupt(99)
})

test('images of a session come with its first prompt and no other', async () => {
  const { open, driver, store } = house()
  const images = [{ mimeType: 'image/png', data: 'AAAA' }]
  const session = await open({}, { options: { images, effort: 'low' } })
  expect((await store.record(session.id))?.options).toEqual({ images, effort: 'low' })
  await session.prompt('one')
  const run = await driver.run()
  await expect.poll(() => run.input).toContain('image/png')
  expect((await store.record(session.id))?.options).toEqual({ effort: 'low' })
  run.say(init, result('1'))
  await session.settled(1)
  await session.prompt('two')
  expect(run.input.split('image/png')).toHaveLength(2)
})

test('a plan that read-only keeps from being carried out is no denial', async () => {
  const { open, driver } = house()
  const session = await open({ sandbox: 'read-only' })
  await session.prompt('plan it')
  const run = await driver.run()
  const call = { type: 'tool_use', id: 'tool-p', name: 'ExitPlanMode', input: { plan: 'do it' } }
  run.say(init, { type: 'assistant', message: { id: 'm', content: [call] } }, asks('p', 'ExitPlanMode'))
  await expect.poll(() => run.input).toContain('"behavior":"deny"')
  const refused = { type: 'tool_result', tool_use_id: 'tool-p', content: 'no', is_error: true }
  const told = [{ tool_name: 'ExitPlanMode', tool_use_id: 'tool-p' }]
  run.say(
    { type: 'user', message: { content: [refused] } },
    { ...result('the plan'), permission_denials: told },
  )
  expect(await session.settled(1)).toMatchObject({ outcome: 'completed', result: 'the plan' })
})

test('a heartbeat that says nothing does not keep a silent turn alive', async () => {
  const { open, driver, time } = house()
  const session = await open({ idleTimeoutMs: 1_000 })
  await session.prompt('one')
  const run = await driver.run()
  run.say(init)
  for (let beat = 0; beat < 4; beat++) {
    await time.pass(400)
    run.say({ type: 'keep_alive' })
  }
  await time.pass(3_000)
  expect(await session.settled(1)).toMatchObject({ outcome: 'timeout' })
})

test('a start that takes too long is a timeout', async () => {
  const { open, driver } = house()
  const session = await open()
  await session.prompt('one')
  const run = await driver.run()
  run.die({ error: { code: 'timeout', message: 'it did not listen within 30 s' } })
  expect(await session.settled(1)).toMatchObject({ outcome: 'timeout', error: { code: 'timeout' } })
})
