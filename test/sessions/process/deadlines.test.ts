import { describe, expect, test } from 'vitest'
import { agents } from '../../../src/agents/index.ts'
import type { LaunchKind } from '../../../src/model/index.ts'
import { AGENT_LIMITS, LONGEST_EXIT } from '../../../src/sessions/process/agent-limits.ts'
import { house, init, result, said } from '../house.ts'

const { startMs, exitMs } = AGENT_LIMITS

/** Agents that run a program, by launch. */
function programs(launch: LaunchKind): string[] {
  const builtin = ['board', 'demo', 'echo']
  return agents.filter(({ id, launches }) => launches[launch] && !builtin.includes(id)).map(({ id }) => id)
}

const notices = async (
  room: ReturnType<typeof house>,
  session: Parameters<ReturnType<typeof house>['log']>[0],
) => (await room.log(session)).flatMap(({ event }) => (event.type === 'notice.raised' ? [event] : []))

describe('a process that never answers its handshake', () => {
  test.each(programs('live'))('ends the turn of a live %s', async (agent) => {
    const { open, driver, time } = house()
    const session = await open({}, { agent, launch: 'live' })
    await session.prompt('go')
    const run = await driver.run()
    await time.pass(startMs - 1)
    expect(run.stops).toBe(0)
    await time.pass(1)
    expect(await session.settled(1)).toMatchObject({
      outcome: 'timeout',
      error: {
        code: 'timeout',
        message: `${agent} did not answer its handshake within 120 s (timeouts.startMs)`,
      },
    })
    expect(run.stops).toBe(1)
  })

  test.each(programs('oneshot').filter((id) => id !== 'opencode'))('ends a one-shot %s', async (agent) => {
    const { open, driver, time } = house()
    const session = await open({}, { agent, launch: 'oneshot' })
    await session.prompt('go')
    await driver.run()
    await time.pass(startMs)
    expect(await session.settled(1)).toMatchObject({
      outcome: 'timeout',
      error: { message: `${agent} did not print anything within 120 s (timeouts.startMs)` },
    })
  })

  test('ends a warm process without a turn, and the next prompt starts another one', async () => {
    const room = house()
    const session = await room.open()
    await session.place.warm()
    const first = await room.driver.run()
    // The process without work would be closed before that.
    await room.time.pass(30_000)
    await session.prompt('go')
    await room.time.pass(startMs - 30_000)
    expect(first.stops).toBe(1)
    expect(await session.settled(1)).toMatchObject({ outcome: 'timeout' })
    await session.prompt('again')
    const second = await room.driver.run(2)
    second.say(init, said('hello'), result('hello'))
    expect(await session.settled(2)).toMatchObject({ outcome: 'completed' })
  })

  test('and exits is not reported as late after its exit', async () => {
    const room = house()
    const session = await room.open()
    await session.prompt('go')
    const run = await room.driver.run()
    run.die({ code: 1 })
    await session.settled(1)
    await room.time.pass(2 * startMs)
    expect(await notices(room, session)).toEqual([])
    expect(run.stops).toBe(0)
  })

  test('is stopped by no limit once it has answered', async () => {
    const { open, driver, time } = house()
    const session = await open()
    await session.prompt('go')
    const run = await driver.run()
    run.say(init)
    await expect.poll(() => session.coverage.frames).toBe(1)
    await time.pass(10 * startMs)
    expect(run.stops).toBe(0)
    run.say(result('done'))
    expect(await session.settled(1)).toMatchObject({ outcome: 'completed' })
  })
})

/** What each agent prints for a turn that ends well. */
const RESULTS: Record<string, readonly unknown[]> = {
  claude: [init, said('done'), result('done')],
  codex: [
    { type: 'thread.started', thread_id: 't-1' },
    { type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text: 'done' } },
    { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } },
  ],
  gemini: [
    { type: 'init', session_id: 'g-1', model: 'm' },
    { type: 'message', role: 'assistant', content: 'done', delta: true },
    { type: 'result', status: 'success', stats: {} },
  ],
  opencode: [
    { type: 'text', sessionID: 'ses_1', part: { id: 'p1', text: 'done' } },
    { type: 'step_finish', sessionID: 'ses_1', part: { id: 'p2', reason: 'stop', tokens: {} } },
  ],
  pi: [
    { type: 'session', id: 'pi-1' },
    { type: 'agent_start' },
    {
      type: 'message_end',
      message: { role: 'assistant', content: [{ type: 'text', text: 'done' }], stopReason: 'stop' },
    },
    { type: 'agent_settled', aborted: false },
  ],
}

describe('a one-shot process that does not exit after its result', () => {
  test.each(programs('oneshot'))('is ended, and the result of %s stands', async (agent) => {
    const room = house()
    const session = await room.open({}, { agent, launch: 'oneshot' })
    await session.prompt('go')
    const run = await room.driver.run()
    const lines = RESULTS[agent] ?? []
    run.say(...lines)
    await expect.poll(() => session.coverage.frames).toBe(lines.length)
    await room.time.pass(exitMs - 1)
    expect(run.stops).toBe(0)
    await room.time.pass(1)
    expect(run.stops).toBe(1)
    expect(await session.settled(1)).toMatchObject({ outcome: 'completed', result: 'done' })
    expect(await notices(room, session)).toMatchObject([
      {
        code: 'exit_forced',
        message: `${agent} did not exit within 30 s after its result (timeouts.exitMs); its process was ended`,
      },
    ])
  })

  test('has the same time again after further output', async () => {
    const { open, driver, time } = house()
    const session = await open({}, { launch: 'oneshot' })
    await session.prompt('go')
    const run = await driver.run()
    run.say(init, result('one'))
    await expect.poll(() => session.coverage.frames).toBe(2)
    await time.pass(exitMs - 1)
    run.say(result('two'))
    await expect.poll(() => session.coverage.frames).toBe(3)
    await time.pass(exitMs - 1)
    expect(run.stops).toBe(0)
    await time.pass(1)
    expect(await session.settled(1)).toMatchObject({ outcome: 'completed', result: 'two' })
  })

  test('is ended on time although it keeps writing to its standard error', async () => {
    const { open, driver, time } = house()
    const session = await open({}, { launch: 'oneshot' })
    await session.prompt('go')
    const run = await driver.run()
    run.say(init, result('one'))
    await expect.poll(() => session.coverage.frames).toBe(2)
    for (let second = 1; second < exitMs / 1000; second++) {
      await time.pass(1_000)
      run.warn(`still here ${second}`)
      await expect.poll(() => session.coverage.frames).toBe(2 + second)
    }
    expect(run.stops).toBe(0)
    await time.pass(1_000)
    expect(run.stops).toBe(1)
    expect(await session.settled(1)).toMatchObject({ outcome: 'completed', result: 'one' })
  })

  test('is ended after ten times the limit although it keeps printing frames', async () => {
    const { open, driver, time } = house()
    const session = await open({}, { launch: 'oneshot' })
    await session.prompt('go')
    const run = await driver.run()
    run.say(init, result('one'))
    await expect.poll(() => session.coverage.frames).toBe(2)
    for (let printed = 1; printed < 2 * LONGEST_EXIT; printed++) {
      await time.pass(exitMs / 2)
      run.say({ type: 'system', subtype: 'status' })
      await expect.poll(() => session.coverage.frames).toBe(2 + printed)
    }
    expect(run.stops).toBe(0)
    await time.pass(exitMs / 2)
    expect(run.stops).toBe(1)
    expect(await session.settled(1)).toMatchObject({ outcome: 'completed', result: 'one' })
  })

  test('may take any time while work in the background is running', async () => {
    const { open, driver, time } = house()
    const session = await open({}, { launch: 'oneshot' })
    await session.prompt('go')
    const run = await driver.run()
    const task = {
      type: 'system',
      subtype: 'task_started',
      task_id: 'b1',
      is_backgrounded: true,
      task_type: 'local_bash',
    }
    run.say(init, task, result('one'))
    await expect.poll(() => session.coverage.frames).toBe(3)
    await time.pass(10 * exitMs)
    expect(run.stops).toBe(0)
    run.die({ code: 0 })
    expect(await session.settled(1)).toMatchObject({ outcome: 'completed' })
  })

  test('keeps a failure as its outcome', async () => {
    const { open, driver, time } = house()
    const session = await open({}, { launch: 'oneshot' })
    await session.prompt('go')
    const run = await driver.run()
    run.say(init, { ...result('Invalid API key'), is_error: true })
    await expect.poll(() => session.coverage.frames).toBe(2)
    await time.pass(exitMs)
    expect(await session.settled(1)).toMatchObject({
      outcome: 'failed',
      error: { message: 'Invalid API key' },
    })
  })
})

describe('a process that closes its output and lives on', () => {
  test.each([
    ['live', 'claude'],
    ['live', 'codex'],
    ['oneshot', 'claude'],
    ['oneshot', 'gemini'],
  ] as const)('ends the turn of a %s %s', async (launch, agent) => {
    const { open, driver, time } = house()
    const session = await open({}, { agent, launch })
    await session.prompt('go')
    const run = await driver.run()
    run.say({ type: 'anything' })
    await expect.poll(() => session.coverage.frames).toBe(1)
    run.closeOutput()
    await run.outputClosed
    await time.pass(exitMs - 1)
    expect(run.stops).toBe(0)
    run.warn('still here')
    await expect.poll(() => session.coverage.frames).toBe(2)
    await time.pass(1)
    expect(run.stops).toBe(1)
    const { outcome, error } = await session.settled(1)
    expect([outcome, error?.code]).toEqual(['timeout', 'timeout'])
    expect(error?.message).toContain(
      `${agent} closed its standard output and did not exit within 30 s (timeouts.exitMs)`,
    )
  })

  test('keeps the result that it printed before', async () => {
    const { open, driver, time } = house()
    const session = await open({}, { launch: 'oneshot' })
    await session.prompt('go')
    const run = await driver.run()
    run.say(init, said('done'), result('done'))
    run.closeOutput()
    await expect.poll(() => session.coverage.frames).toBe(3)
    await time.pass(exitMs)
    expect(await session.settled(1)).toMatchObject({ outcome: 'completed', result: 'done' })
  })

  test('and exits at once is not late', async () => {
    const room = house()
    const session = await room.open({}, { launch: 'oneshot' })
    await session.prompt('go')
    const run = await room.driver.run()
    run.say(init, said('done'), result('done'))
    await expect.poll(() => session.coverage.frames).toBe(3)
    run.closeOutput()
    run.die({ code: 0 })
    expect(await session.settled(1)).toMatchObject({ outcome: 'completed' })
    await room.time.pass(10 * exitMs)
    expect(await notices(room, session)).toEqual([])
  })
})

describe('a server that is suspended', () => {
  test('counts no silence of its agent, and neither stops the turn nor reports it', async () => {
    const room = house()
    const session = await room.open({ idleTimeoutMs: 20_000 })
    await session.prompt('go')
    const run = await room.driver.run()
    run.say(init)
    await expect.poll(() => session.coverage.frames).toBe(1)
    await room.time.jump(3_600_000)
    expect(run.stops).toBe(0)
    expect(await notices(room, session)).toEqual([])
    await room.time.pass(19_999)
    expect(run.input).not.toContain('interrupt')
    await room.time.pass(1)
    expect(run.input).toContain('interrupt')
    await room.time.pass(2_000)
    expect(await session.settled(1)).toMatchObject({ outcome: 'timeout' })
  })

  test('gives a process that was starting, and one that was exiting, its whole time again', async () => {
    const { open, driver, time } = house()
    const starting = await open()
    await starting.prompt('go')
    const exiting = await open({}, { launch: 'oneshot' })
    await exiting.prompt('go')
    const [first, second] = [await driver.run(1), await driver.run(2)]
    second.say(init, result('done'))
    await expect.poll(() => exiting.coverage.frames).toBe(2)
    await time.jump(3_600_000)
    expect([first.stops, second.stops]).toEqual([0, 0])
    await time.pass(exitMs)
    expect([first.stops, second.stops]).toEqual([0, 1])
    await time.pass(startMs - exitMs)
    expect(first.stops).toBe(1)
  })
})

test('a live agent whose handshake failed and that stays after its input was closed is ended', async () => {
  const { open, driver, time } = house()
  const session = await open({}, { agent: 'gemini', launch: 'live' })
  await session.prompt('go')
  const run = await driver.run()
  run.say({ jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'no' } })
  expect(await session.settled(1)).toMatchObject({ outcome: 'failed' })
  await time.pass(0)
  await time.pass(exitMs)
  expect(run.stops).toBe(1)
})
