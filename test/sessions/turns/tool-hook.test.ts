import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { agents } from '../../../src/agents/index.ts'
import { driver } from '../../../src/drivers/index.ts'
import { systemTimers } from '../../../src/drivers/timers.ts'
import { blobReference } from '../../../src/model/blob.ts'
import type { RequestOpened } from '../../../src/model/events/request.ts'
import { LaunchKind, type ToolHook } from '../../../src/model/index.ts'
import type { Session } from '../../../src/sessions/session.ts'
import { ToolHooks } from '../../../src/sessions/turns/tool-hook.ts'
import { violations } from '../../agents/invariants.ts'
import type { FakeRun } from '../fake-driver.ts'
import { asks, house, init, result } from '../house.ts'

const hooks = { beforeToolCall: { command: ['/bin/hook', 'a'] } }

/** A session that asks once, and the run of the hook that is asked. */
async function asked(home: ReturnType<typeof house>, policy = {}, hook: Partial<ToolHook> = {}) {
  const session = await home.open(policy, {
    cwd: '/workspace',
    options: { hooks: { beforeToolCall: { ...hooks.beforeToolCall, ...hook } } },
  })
  await session.prompt('go')
  const agent = await home.driver.run(1)
  agent.say(init, asks('r1'))
  return { session, agent, hook: await home.driver.run(2) }
}

const resolved = (home: ReturnType<typeof house>, session: Session) =>
  expect
    .poll(async () => (await home.log(session)).findLast(({ event }) => event.type === 'request.resolved'))
    .not.toBeUndefined()
    .then(
      async () => (await home.log(session)).findLast(({ event }) => event.type === 'request.resolved')?.event,
    )

/** Ends the turn, and looks at the whole log. */
async function finish(home: ReturnType<typeof house>, session: Session, agent: FakeRun) {
  agent.say(result('done'))
  await session.settled(1)
  expect(violations(await home.log(session))).toEqual([])
}

describe('a request that a hook decides', () => {
  test('goes to its stdin as it is in the log, in the session’s directory, with nothing of the agent’s environment', async () => {
    const home = house()
    const { session, hook } = await asked(home)
    const opened = (await home.log(session)).find(({ event }) => event.type === 'request.opened')?.event
    expect(opened).toMatchObject({ answeredBy: 'hook', tool: 'Bash', canonicalName: 'execute' })
    await expect.poll(() => hook.written.map(({ kind }) => kind)).toEqual(['text', 'end'])
    expect(JSON.parse(hook.input)).toEqual(opened)
    expect(hook.launch).toEqual({ kind: 'process', argv: ['/bin/hook', 'a'], env: {}, passEnv: [] })
    expect(hook.context).toMatchObject({ runId: `${session.id}.hook`, cwd: '/workspace', env: {} })
  })

  test('is denied without asking it where the hook would not receive all of it', async () => {
    const home = house()
    const session = await home.open({}, { cwd: '/workspace', options: { hooks } })
    await session.prompt('go')
    const agent = await home.driver.run(1)
    const blob = { id: 'b1', bytes: 20_000_000 }
    const text = `rm x… ${blobReference(blob)}`
    agent.sayLarge(init)
    agent.sayLarge(asks('r1', 'Bash', text), { blob, text, digest: 'd' })
    expect(await resolved(home, session)).toMatchObject({
      decision: 'deny',
      by: 'hook',
      message: `the hook cannot read the whole request: ${blobReference(blob)}`,
    })
    expect(home.driver.runs).toHaveLength(1)
    await finish(home, session, agent)
  })

  test('is allowed by exit code 0', async () => {
    const home = house()
    const { session, agent, hook } = await asked(home)
    hook.die({ code: 0 })
    expect(await resolved(home, session)).toMatchObject({ decision: 'allow', scope: 'once', by: 'hook' })
    expect(agent.input).toContain('"behavior":"allow"')
    await finish(home, session, agent)
  })

  test.each([
    ['another exit code', { code: 1 }],
    ['a signal', { signal: 'SIGKILL' }],
    ['a start that failed', { error: { code: 'agent_not_found' as const, message: 'no such program' } }],
  ])('is denied by %s', async (_, exit) => {
    const home = house()
    const { session, agent, hook } = await asked(home, { tools: { preapproved: ['Bash'] } })
    hook.die(exit)
    expect(await resolved(home, session)).toMatchObject({ decision: 'deny', by: 'hook' })
    expect(agent.input).toContain('"behavior":"deny"')
    await finish(home, session, agent)
  })

  test('is denied with what the hook wrote to its standard error', async () => {
    const home = house()
    const { session, agent, hook } = await asked(home)
    hook.warn('rm is not allowed here')
    hook.die({ code: 2 })
    expect(await resolved(home, session)).toMatchObject({
      decision: 'deny',
      message: 'the hook denied it: rm is not allowed here',
    })
    await finish(home, session, agent)
  })

  test('is denied when the hook is late, also if it exits with 0 when it is stopped', async () => {
    const home = house()
    const { session, agent, hook } = await asked(home)
    hook.onStop = () => hook.die({ code: 0 })
    await home.time.pass(59_999)
    expect(hook.stops).toBe(0)
    await home.time.pass(1)
    expect(hook.stops).toBe(1)
    expect(await resolved(home, session)).toMatchObject({
      decision: 'deny',
      message: expect.stringMatching(/60000 ms/),
    })
    await finish(home, session, agent)
  })

  test('has the time that was asked for', async () => {
    const home = house()
    const { hook } = await asked(home, {}, { timeoutMs: 50 })
    await home.time.pass(49)
    expect(hook.stops).toBe(0)
    await home.time.pass(1)
    expect(hook.stops).toBe(1)
  })

  test('accepts no other answer until the hook has decided', async () => {
    const home = house()
    const { session, agent, hook } = await asked(home)
    const [request] = (await home.store.record(session.id))?.requests ?? []
    const { requestId = '', inputDigest = '' } = request ?? {}
    const allow = { type: 'answer', requestId, inputDigest, decision: 'allow' } as const
    await expect(session.answer(allow)).rejects.toMatchObject({ code: 'conflict' })
    hook.die({ code: 1 })
    expect(await resolved(home, session)).toMatchObject({ decision: 'deny', by: 'hook' })
    await expect(session.answer(allow)).rejects.toMatchObject({ code: 'request_not_found' })
    await finish(home, session, agent)
  })

  test('waits for the one before it', async () => {
    const home = house()
    const { session, agent, hook } = await asked(home)
    agent.say(asks('r2'))
    await expect.poll(() => session.coverage.frames).toBe(3)
    expect(home.driver.runs).toHaveLength(2)
    hook.die({ code: 0 })
    const second = await home.driver.run(3)
    expect(second.input).toContain('tool-r2')
    second.die({ code: 1 })
    const decisions = async () =>
      (await home.log(session)).flatMap(({ event }) =>
        event.type === 'request.resolved' ? event.decision : [],
      )
    await expect.poll(decisions).toEqual(['allow', 'deny'])
    await finish(home, session, agent)
  })

  test('stops its hook when the agent goes away, and the answer is none', async () => {
    const home = house()
    const { session, agent, hook } = await asked(home)
    agent.die({ code: 1 })
    await session.settled(1)
    await expect.poll(() => hook.stops).toBe(1)
    await session.end()
    const types = await home.types(session)
    expect(types).toContain('request.withdrawn')
    expect(types).not.toContain('request.resolved')
    expect(violations(await home.log(session))).toEqual([])
  })

  test('a session that ends waits until its hook is gone', async () => {
    const home = house()
    const { session, agent, hook } = await asked(home)
    const stopped = Promise.withResolvers<void>()
    hook.onStop = () => stopped.resolve()
    agent.die({ code: 1 })
    await session.settled(1)
    let ended = false
    const ending = session.end().then(() => {
      ended = true
    })
    await stopped.promise
    await home.time.pass(0)
    expect(ended).toBe(false)
    hook.die({ signal: 'SIGTERM' })
    await ending
  })
})

describe('the hook is not asked', () => {
  test('for a tool that the policy denies', async () => {
    const home = house()
    const session = await home.open({ tools: { denied: ['Bash'] } }, { options: { hooks } })
    await session.prompt('go')
    const agent = await home.driver.run(1)
    agent.say(init, asks('r1'))
    expect(await resolved(home, session)).toMatchObject({ decision: 'deny', by: 'policy' })
    expect(home.driver.runs).toHaveLength(1)
  })

  const launches = agents.flatMap((agent) =>
    LaunchKind.options.flatMap((launch) => {
      const recipe = agent.launches[launch]
      return recipe ? [[agent.id, launch, recipe.capabilities.permissions] as const] : []
    }),
  )
  const never = launches.filter(([, , permissions]) => !permissions)

  test('there are launches of both kinds', () => {
    expect(never.length).toBeGreaterThan(3)
    expect(launches.length - never.length).toBeGreaterThan(3)
  })

  test.each(never)('by %s %s, which refuses it before anything starts', async (agent, launch) => {
    const home = house()
    const policy = { approval: 'auto-all' } as const
    await expect(home.open(policy, { agent, launch })).resolves.toBeDefined()
    await expect(home.open(policy, { agent, launch, options: { hooks } })).rejects.toMatchObject({
      code: 'unsupported_option',
      message: expect.stringContaining('hooks.beforeToolCall'),
    })
    expect(home.driver.runs).toHaveLength(0)
  })

  test.each(launches.filter(([, , permissions]) => permissions))(
    'with auto-all by %s %s, which takes it with ask',
    async (agent, launch) => {
      const home = house()
      await expect(home.open({}, { agent, launch, options: { hooks } })).resolves.toBeDefined()
      await expect(
        home.open({ approval: 'auto-all' }, { agent, launch, options: { hooks } }),
      ).rejects.toMatchObject({
        code: 'unsupported_option',
      })
    },
  )
})

describe('a real command', () => {
  // Every test starts a process, and the machine may be busy.
  vi.setConfig({ testTimeout: 30_000 })
  let cwd = ''
  beforeEach(() => {
    cwd = realpathSync(mkdtempSync(join(tmpdir(), 'hook-')))
  })
  afterEach(() => rmSync(cwd, { recursive: true }))

  const request: RequestOpened = {
    type: 'request.opened',
    requestId: 'r',
    kind: 'permission',
    blocking: true,
    tool: 'Bash',
    input: { command: 'x'.repeat(300_000) },
    inputDigest: '',
    options: [],
  }
  const decide = async (script: string, timeoutMs = 20_000) => {
    const file = join(cwd, 'hook.mjs')
    writeFileSync(file, script)
    const environment = { ...process.env, MAINSTEM_TOKEN: 'ours', ANTHROPIC_API_KEY: 'key' }
    const tool = new ToolHooks(
      {
        id: `hook-${cwd}`,
        cwd,
        options: { hooks: { beforeToolCall: { command: [process.execPath, file], timeoutMs } } },
      },
      {
        driver: driver({ environment, graces: { SIGINT: 200, SIGTERM: 200, SIGKILL: 5_000 } }),
        timers: systemTimers,
      },
    )
    return tool.ask(request)
  }

  test('reads the whole request and prints as much as it likes', async () => {
    const answer = await decide(`
      import { readFileSync } from 'node:fs'
      process.stdout.write('y'.repeat(3_000_000))
      const { tool, input } = JSON.parse(readFileSync(0, 'utf8'))
      process.exit(tool === 'Bash' && input.command.length === 300_000 ? 0 : 1)`)
    expect(answer).toMatchObject({ decision: 'allow' })
  })

  test('need not read the request', async () => {
    expect(await decide('process.exit(0)')).toMatchObject({ decision: 'allow' })
    expect(await decide('process.exit(3)')).toMatchObject({ decision: 'deny' })
  })

  test('runs in the session’s directory and sees no secret of ours', async () => {
    await decide(`
      import { writeFileSync } from 'node:fs'
      writeFileSync('seen.json', JSON.stringify(process.env))`)
    const seen = JSON.parse(readFileSync(join(cwd, 'seen.json'), 'utf8'))
    expect(seen).toMatchObject({ PATH: process.env.PATH })
    expect(Object.keys(seen).filter((name) => name.startsWith('MAINSTEM_'))).toEqual(['MAINSTEM_RUN'])
    expect(seen).not.toHaveProperty('ANTHROPIC_API_KEY')
  })

  test('that is late ends with everything it started', async () => {
    const answer = await decide(
      `
      import { spawn } from 'node:child_process'
      import { writeFileSync } from 'node:fs'
      process.on('SIGINT', () => {})
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' })
      writeFileSync('pid', String(child.pid))
      setInterval(() => {}, 1000)`,
      2_000,
    )
    expect(answer).toMatchObject({ decision: 'deny', message: expect.stringContaining('2000 ms') })
    const pid = Number(readFileSync(join(cwd, 'pid'), 'utf8'))
    expect(pid).toBeGreaterThan(0)
    expect(() => process.kill(pid, 0)).toThrow()
  })

  test('that is not there denies', async () => {
    const missing = join(cwd, 'missing')
    expect(existsSync(missing)).toBe(false)
    const options = { hooks: { beforeToolCall: { command: [missing] as [string] } } }
    const tool = new ToolHooks({ id: 'none', cwd, options }, { driver: driver(), timers: systemTimers })
    const answer = await tool.ask(request)
    expect(answer).toMatchObject({ decision: 'deny', message: expect.stringContaining(missing) })
  })
})
