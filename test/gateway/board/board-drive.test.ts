import { afterEach, describe, expect, test } from 'vitest'
import { board as boardAgent } from '../../../src/agents/board/agent.ts'
import { demo } from '../../../src/agents/demo/agent.ts'
import { agreeable } from '../../../src/cli/terminal/ask.ts'
import type { Timers } from '../../../src/drivers/driver.ts'
import { systemTimers } from '../../../src/drivers/timers.ts'
import { StreamQuota } from '../../../src/gateway/streams/stream-quota.ts'
import type { Policy } from '../../../src/model/index.ts'
import { violations } from '../../agents/invariants.ts'
import { RemoteTimers } from '../../drivers/remote/remote-runs.ts'
import { call } from '../api.ts'
import { type Cue, script, success, text } from '../puppet.ts'
import { type Options, startGateway, type TestGateway, TOKEN } from '../start.ts'
import { SocketReader, wholeSocket } from '../streams/socket.ts'

const EVERYTHING: Policy = { approval: 'auto-all', sandbox: 'none' }
const CEILING: Policy = { approval: 'auto-all', sandbox: 'full-access' }

/** Fifty times as fast as people. */
const fast: Timers = { sleep: (ms, signal) => systemTimers.sleep(ms / 50, signal) }

/** `far` runs the agents, and `near` drives it as it would any other board. */
let far: TestGateway
let near: TestGateway

async function connect(agent: string, options: Options = {}): Promise<void> {
  far = await startGateway({ policy: EVERYTHING, ceiling: CEILING, more: [demo], ...options })
  far.deps.projects = { here: far.root }
  const env = {
    MAINSTEM_BOARD_URL: far.url,
    MAINSTEM_BOARD_TOKEN: TOKEN,
    MAINSTEM_BOARD_AGENT: agent,
    MAINSTEM_BOARD_PROJECT: 'here',
  }
  near = await startGateway({
    policy: EVERYTHING,
    ceiling: CEILING,
    more: [boardAgent],
    settings: { board: { env } },
    timers: new RemoteTimers(),
  })
}

afterEach(async () => {
  await near[Symbol.asyncDispose]()
  await far[Symbol.asyncDispose]()
  expect([...near.reported, ...far.reported]).toEqual([])
})

const begin = async (prompt: string) =>
  String((await call(near, 'POST /api/sessions', { body: { agentId: 'board', prompt } })).body.id)

const stateAt = async (server: TestGateway, id: string) =>
  (await call(server, `GET /api/sessions/${id}`)).body.state

/** The one session that runs over there. */
async function farSession(): Promise<string> {
  const listed = async () =>
    ((await call(far, 'GET /api/sessions')).body.sessions as { id: string }[]).map(({ id }) => id)
  await expect.poll(listed, { timeout: 20_000 }).toHaveLength(1)
  return String((await listed())[0])
}

/** Answers what the agent over there asks, where it can be answered: over there. */
async function answerThere(id: string, signal: AbortSignal): Promise<void> {
  for await (const entries of far.sessions.follow(id, 0, signal)) {
    for (const { event } of entries) {
      if (event.type !== 'request.opened' || event.kind !== 'question') continue
      const answer = await agreeable(event)
      if (!answer) throw new Error('there is an answer to every question')
      const { type: _, requestId, ...body } = answer
      const path = `/v1/sessions/${id}/requests/${requestId}`
      await call(far, `POST ${path}`, { body: { ...body, inputDigest: event.inputDigest } })
    }
  }
}

const TRANSPORTS: [name: string, options: Options][] = [
  ['its socket', {}],
  // No place for a stream: the pages are all there is.
  ['its pages', { streams: new StreamQuota(0) }],
]

describe.each(TRANSPORTS)('a server that drives a server by %s', (_, options) => {
  test('gets the text and the outcome', async () => {
    await connect('echo', options)
    const id = await begin('hello over there')
    const { messages, code } = await wholeSocket(near, `/ws/sessions/${id}`)
    expect(messages).toEqual([
      expect.objectContaining({ type: 'log', payload: { line: 'hello over there' } }),
    ])
    expect(code).toBe(1000)
    expect(await near.sessions.get(id)?.settled(1)).toMatchObject({ outcome: 'completed' })
    expect(await stateAt(far, await farSession())).toBe('done')
    expect(await far.sessions.record(await farSession())).toMatchObject({ agent: 'echo', cwd: far.root })
  })

  test('gets every message of a long session once, tools and changes too', async () => {
    await connect('demo', { ...options, timers: fast })
    const id = await begin('show me')
    const over = new AbortController()
    const answering = answerThere(await farSession(), over.signal)
    await near.sessions.get(id)?.settled(1)
    over.abort()
    await answering
    const { events: there } = (await call(far, `GET /api/sessions/${await farSession()}/events?limit=1000`))
      .body
    const { events: here } = (await call(near, `GET /api/sessions/${id}/events?limit=1000`)).body
    const told = (events: unknown) =>
      (events as { type: string; payload: { tool?: string; line?: string; file?: string } }[])
        // Thinking comes back as text, because a board does not tell them apart.
        .filter(({ type }) => type !== 'plan' && type !== 'log')
        .map(({ type, payload }) => `${type} ${payload.tool ?? payload.file ?? ''}`)
    expect(told(here).sort()).toEqual(told(there).sort())
    expect(told(here).length).toBeGreaterThan(5)
    expect(violations(await near.sessions.read(id, 0, 5000))).toEqual([])
    expect(await stateAt(near, id)).toBe('done')
  })

  test('gets output in bursts and with pauses', async () => {
    await connect('puppet', options)
    const cues: Cue[] = Array.from({ length: 250 }, (_, index) => text(`m${index}`, `line ${index}`))
    const id = await begin(script(...cues, { ...text('last', 'after a pause'), wait: true }, success))
    await farSession()
    await far.gate.open()
    await near.sessions.get(id)?.settled(1)
    const { events, total } = (await call(near, `GET /api/sessions/${id}/events?limit=1000`)).body
    const lines = (events as { payload: { line: string } }[]).map(({ payload }) => payload.line)
    expect(lines).toEqual([...cues.map((_, index) => `line ${index}`), 'after a pause'])
    expect(total).toBe(251)
  })

  test('gets a failure with its reason', async () => {
    await connect('puppet', options)
    const error = { code: 'quota_exceeded', message: 'no more today' } as const
    const failed: Cue = {
      say: { type: 'turn.verdict', evidence: 'error', denials: 0, personDenials: 0, error },
    }
    const id = await begin(script(text('m', 'half'), failed))
    expect(await near.sessions.get(id)?.settled(1)).toMatchObject({ outcome: 'failed', error })
    expect(await stateAt(near, id)).toBe('failed')
  })

  test('cancels over there, and both are cancelled', async () => {
    await connect('puppet', options)
    const id = await begin(script(text('m', 'begun'), { ...text('n', 'never'), wait: true }, success))
    const reader = new SocketReader(near, `/ws/sessions/${id}`)
    await reader.until(1)
    const answer = await call(near, `POST /api/sessions/${id}/cancel`)
    expect(answer.body).toEqual({ id, state: 'cancelled', cancelled: true })
    expect((await reader.closed).code).toBe(4002)
    expect(await stateAt(far, await farSession())).toBe('cancelled')
    const log = await near.sessions.read(id, 0, 100)
    expect(log.map(({ event }) => event.type)).not.toContain('notice.raised')
  })
})

describe('a server that drives a server', () => {
  test("gets the other's rejection, and nothing runs", async () => {
    await connect('nobody')
    const id = await begin('x')
    expect(await near.sessions.get(id)?.settled(1)).toMatchObject({
      outcome: 'failed',
      error: { message: expect.stringContaining('there is no agent "nobody"') },
    })
    expect((await call(far, 'GET /api/sessions')).body.sessions).toEqual([])
  })

  test('continues when its socket is cut, without loss or repetition', async () => {
    await connect('puppet')
    const id = await begin(
      script(text('a', 'one'), { ...text('b', 'two'), wait: true }, text('c', '3'), success),
    )
    const reader = new SocketReader(near, `/ws/sessions/${id}`)
    await reader.until(1)
    for (const client of far.app.websocketServer.clients) client.terminate()
    await far.gate.open()
    expect((await reader.closed).code).toBe(1000)
    expect(reader.messages.map(({ payload }) => payload)).toEqual([
      { line: 'one' },
      { line: 'two' },
      { line: '3' },
    ])
  })
})
