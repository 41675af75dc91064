import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Agent, recipe } from '../../../src/agents/agent.ts'
import { agents } from '../../../src/agents/index.ts'
import { unsupported } from '../../../src/agents/kit/option.ts'
import { driver } from '../../../src/drivers/index.ts'
import { RpcResponse } from '../../../src/gateway/rpc/envelope.ts'
import { script, success, text } from '../puppet.ts'
import type { TestGateway } from '../start.ts'
import { play, talker } from '../talker.ts'
import { create, exchange, hello, open, post, result, rpc, startRpc, told } from './rpc.ts'

/** Edits without approval only in its own sandbox. */
const sandboxed: Agent = {
  id: 'sandboxed',
  name: 'Sandboxed',
  launches: { live: sandboxedRecipe() },
}

function sandboxedRecipe() {
  const { live } = talker.launches
  if (!live) throw new Error('the talker has a live launch')
  return recipe({
    ...live,
    launch(start) {
      const { approval, sandbox } = start.policy
      if (approval === 'auto-edit' && sandbox !== 'workspace-write')
        throw unsupported('sandboxed', `auto-edit with ${sandbox}`, 'it has no such mode')
      return live.launch(start)
    },
  })
}

let server: TestGateway
beforeEach(async () => {
  server = await startRpc({ more: [talker, sandboxed] })
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

describe('the mode code', () => {
  test('is the sandbox of an agent that edits without approval only there', async () => {
    const id = await create(server, { cli_type: 'sandboxed', mode: 'code' })
    const policy = { approval: 'auto-edit', sandbox: 'workspace-write' }
    expect(await server.sessions.record(id)).toMatchObject({ policy })
    const other = await create(server, { cli_type: 'sandboxed', mode: 'ask' })
    expect(await result(server, 'session.set_mode', { sessionId: other, mode: 'code' })).toMatchObject({
      ok: true,
    })
    expect(await server.sessions.record(other)).toMatchObject({ policy })
    const listed = await result(server, 'session.list')
    expect(listed.sessions).toMatchObject([{ mode: 'code' }, { mode: 'code' }])
  })

  test('adds no sandbox to an agent that needs none', async () => {
    const id = await create(server, { mode: 'code' })
    expect(await server.sessions.record(id)).toMatchObject({
      policy: { approval: 'auto-edit', sandbox: 'none' },
    })
  })
})

describe('every mode', () => {
  // A board accepts one policy only; the test server has an echo already.
  const asked = agents.filter(({ id }) => id !== 'board' && id !== 'echo')

  test.each(['auto', 'code', 'plan', 'ask'])(
    '%s is a mode of every agent, at the start and later',
    async (mode) => {
      await using house = await startRpc({ more: asked })
      for (const { id: cli_type } of asked) {
        // It has no mode in which it only reads, so the policy of `plan` cannot be enforced.
        if (mode === 'plan' && cli_type === 'antigravity-acp') {
          const { error } = await rpc(house, 'session.create', { path: house.root, cli_type, mode })
          expect(error).toMatchObject({ data: { code: 'unsupported_option' } })
          continue
        }
        const started = await create(house, { cli_type, mode })
        const changed = await create(house, { cli_type, mode: 'ask' })
        await result(house, 'session.set_mode', { sessionId: changed, mode })
        const { sessions } = await result(house, 'session.list')
        for (const sessionId of [started, changed])
          expect(sessions, cli_type).toContainEqual(expect.objectContaining({ sessionId, mode }))
      }
    },
  )
})

describe('a run of /v1/execute', () => {
  test('is no conversation: it is not listed and takes no message', async () => {
    const conversation = await create(server)
    const body = { driver: 'puppet', task: script({ ...text('m1', 'done'), wait: true }, success) }
    const running = server.execute({ idempotency_key: 'key-1', ...body })
    await expect.poll(async () => (await server.sessions.records({ limit: 10 })).length).toBe(2)
    const run = (await server.sessions.records({ limit: 10 })).find(({ single }) => single)
    expect((await result(server, 'session.list')).sessions).toMatchObject([{ sessionId: conversation }])
    expect((await result(server, 'monitor.sessions')).totalSessions).toBe(1)
    expect((await result(server, 'health.check')).sessions).toBe(1)
    expect(await exchange(server, run?.id ?? '', 'hello')).toEqual([
      { type: 'error', message: expect.stringContaining('single task'), code: 'conflict' },
      '[DONE]',
    ])
    await server.gate.open()
    expect(await (await running).text()).toContain('"exit_code":0')
  })
})

test('reconnect includes native messages and usage on request', async () => {
  const id = await create(server)
  const prompt = play([hello(), { say: { type: 'text.completed', messageId: 'm1', text: 'one' } }, success])
  const whole = told(await (await open(server, id, prompt, { path: '/rpc?raw=1' })).whole())
  const call = { method: 'session.reconnect', params: { sessionId: id, after: 0 } }
  const answer = RpcResponse.parse(await (await post(server, call, { path: '/rpc?raw=1' })).json())
  expect(answer.result).toMatchObject({ bufferedEvents: whole.slice(0, -1) })
  expect(whole).toContainEqual(
    expect.objectContaining({
      type: 'result',
      raw: expect.objectContaining({ duration_ms: expect.any(Number) }),
    }),
  )
})

test('counts every message that no client has read', async () => {
  const id = await create(server)
  const session = await server.sessions.open(id)
  const piece = { say: { type: 'text.delta', messageId: 'm1', text: 'x' } } as const
  const turn = await session.prompt(play([hello(), ...Array.from({ length: 50_010 }, () => piece), success]))
  await session.settled(turn)
  const { responsePending } = await result(server, 'session.queue_stats', { sessionId: id })
  expect(responsePending).toBeGreaterThan(50_010)
})

/** A program that exits before it says anything. */
const crashing: Agent = {
  id: 'claude',
  name: 'Claude Code',
  launches: {
    live: recipe({
      ...liveOf('claude'),
      launch: () => ({
        kind: 'process',
        argv: ['sh', '-c', 'echo broken >&2; exit 1'],
        env: {},
        passEnv: [],
      }),
    }),
  },
}

function liveOf(id: string) {
  const live = agents.find((agent) => agent.id === id)?.launches.live
  if (!live) throw new Error(`${id} has no live launch`)
  return live
}

/** Words that the document prints, or that clients of its daemon match. */
describe('texts that existing clients match', () => {
  const messageOf = async (method: string, params?: object) =>
    (await rpc(server, method, params)).error?.message

  test('a path that does not exist', async () => {
    expect(await messageOf('session.create', { path: '/nonexistent' })).toMatch(/^Path does not exist/)
  })

  test('an unknown method', async () => {
    expect(await messageOf('session.nothing')).toBe('Method not found: session.nothing')
  })

  test('a process that exits with an error, at the first message and at the second', async () => {
    await using house = await startRpc({ more: [crashing], driver: driver() })
    const id = await create(house, { cli_type: 'claude' })
    for (const message of ['one', 'two']) {
      const [last, done] = (await exchange(house, id, message)).slice(-2)
      expect(last).toMatchObject({
        type: 'error',
        message: expect.stringMatching(/^Claude process exited abnormally \(code=1\)/),
      })
      expect(done).toBe('[DONE]')
    }
  })

  test('the status of a tool', async () => {
    const id = await create(server)
    const call = { toolId: 't1', name: 'Bash', kind: 'execute', input: { command: 'ls' } } as const
    const status = { type: 'tool.progressed', toolId: 't1', message: 'Running command...' } as const
    const said = await exchange(
      server,
      id,
      play([hello(), { say: { type: 'tool.started', ...call } }, { say: status }, success]),
    )
    expect(said).toContainEqual({ type: 'tool_use', tool: 'Bash', message: 'Running command...' })
  })
})
