import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { DefaultServer } from './default-server.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let server: DefaultServer
/** The session of the unified document, which its other requests are about. */
let session = ''
/** The session of the daemon document. */
let daemon = ''

beforeAll(async () => {
  server = await new DefaultServer().listening()
})
afterAll(() => server[Symbol.asyncDispose]())

interface Answer {
  status: number
  text: string
}

async function send(method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(server.url + path, {
    method,
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  })
  return { status: response.status, text: await response.text() }
}

const rpc = (method: string, params: object) =>
  send('POST', '/rpc', { jsonrpc: '2.0', id: 1, method, params })
const dataOf = ({ text }: Answer): string[] =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data)
const idOf = ({ text }: Answer): string => JSON.parse(text).id

/** A socket to its end: every message, and the reason of the close. */
async function follow(path: string): Promise<string[]> {
  const socket = new WebSocket(server.url.replace('http', 'ws') + path)
  const messages: string[] = []
  socket.on('message', (data) => messages.push(String(data)))
  const [code, reason] = await once(socket, 'close')
  return [...messages, `${code} ${reason}`]
}

/**
 * Every request that the documents print, in their order and with their own values. A value that stands for one of the
 * reader's machine is replaced: a session id, and the directory of a project.
 */
const PRINTED: readonly [
  document: string,
  section: string,
  line: number,
  what: string,
  run: () => Promise<void>,
][] = [
  [
    'execute',
    'Request',
    1,
    'curl … /v1/execute',
    async () => {
      const answer = await send('POST', '/v1/execute', {
        idempotency_key: 'demo-1',
        task: 'Respond exactly: flocks-playground-ok',
        driver: 'codex',
        auth_token: 'ops',
      })
      expect(answer, answer.text).toMatchObject({ status: 200 })
      expect(JSON.parse(dataOf(answer).at(-1) ?? '')).toMatchObject({ kind: 'session_end', exit_code: 0 })
    },
  ],
  [
    'execute',
    'Driver behaviour',
    30,
    'driver echo',
    async () => {
      const answer = await send('POST', '/v1/execute', {
        idempotency_key: 'demo-2',
        task: 'verbatim',
        driver: 'echo',
      })
      const events = dataOf(answer).map((data) => JSON.parse(data))
      expect(events[0]).toMatchObject({ kind: 'agent_token', text: 'verbatim' })
      expect(events.at(-1)).toMatchObject({ kind: 'session_end', exit_code: 0 })
    },
  ],
  ...(
    [
      ['claude', 27],
      ['gemini', 29],
    ] as const
  ).map(([driver, line]): (typeof PRINTED)[number] => [
    'execute',
    'Driver behaviour',
    line,
    `driver ${driver}`,
    async () => {
      const body = { idempotency_key: `demo-${driver}`, task: 'one say', driver, model: 'm-1' }
      const answer = await send('POST', '/v1/execute', body)
      const kinds = dataOf(answer).map((data) => JSON.parse(data).kind)
      expect(kinds, answer.text).toContain('agent_token')
      expect(kinds.at(-1)).toBe('session_end')
    },
  ]),
  [
    'daemon',
    'SSE Format',
    3,
    'session.send',
    async () => {
      daemon = JSON.parse((await rpc('session.create', { path: server.home })).text).result.sessionId
      const data = dataOf(await rpc('session.send', { sessionId: daemon, message: 'one say' }))
      expect(data.at(-1)).toBe('[DONE]')
      expect(data.slice(0, -1).map((line) => JSON.parse(line).type)).toEqual(
        expect.arrayContaining(['system', 'partial', 'text', 'result']),
      )
    },
  ],
  [
    'daemon',
    'queued',
    160,
    'session.reconnect',
    async () => {
      const { result } = JSON.parse((await rpc('session.reconnect', { sessionId: daemon })).text)
      expect(result).toMatchObject({ bufferedEvents: [] })
    },
  ],
  [
    'daemon',
    'interrupted',
    197,
    'session.interrupt',
    async () => {
      const { result } = JSON.parse((await rpc('session.interrupt', { sessionId: daemon })).text)
      expect(result).toMatchObject({ ok: true, interrupted: false })
    },
  ],
  [
    'unified',
    '3.1',
    126,
    'POST /api/sessions',
    async () => {
      const answer = await send('POST', '/api/sessions', {
        agentId: 'claude',
        projectId: 'my-project',
        prompt: 'Refactor the authentication module',
      })
      expect(answer, answer.text).toMatchObject({ status: 201 })
      expect(JSON.parse(answer.text)).toEqual({ id: expect.any(String), state: 'running' })
      session = idOf(answer)
    },
  ],
  [
    'unified',
    '3.5',
    255,
    'ws://host:port/ws/sessions/<sessionId>',
    async () => {
      expect((await follow(`/ws/sessions/${session}`)).at(-1)).toBe('1000 done')
    },
  ],
  [
    'unified',
    '2.2',
    71,
    'GET /api/sessions/<id>',
    async () => {
      const answer = await send('GET', `/api/sessions/${session}`)
      expect(JSON.parse(answer.text)).toMatchObject({
        id: session,
        state: 'done',
        agentId: 'claude',
        projectId: 'my-project',
      })
    },
  ],
  [
    'unified',
    '2.2',
    72,
    'GET /api/sessions/<id>/events?offset=N&limit=M',
    async () => {
      const answer = await send('GET', `/api/sessions/${session}/events?offset=0&limit=10`)
      expect(JSON.parse(answer.text)).toMatchObject({ events: expect.any(Array), offset: 0, limit: 10 })
    },
  ],
  [
    'unified',
    '2.2',
    73,
    'POST /api/sessions/<id>/cancel',
    async () => {
      const hanging = { agentId: 'claude', projectId: 'my-project', prompt: 'Refactor hang' }
      const id = idOf(await send('POST', '/api/sessions', hanging))
      const answer = await send('POST', `/api/sessions/${id}/cancel`)
      expect(JSON.parse(answer.text)).toMatchObject({ id, state: 'cancelled' })
      expect((await follow(`/ws/sessions/${id}`)).at(-1)).toBe('4002 cancelled')
    },
  ],
  ...['claude', 'codex', 'gemini'].map((agentType): (typeof PRINTED)[number] => [
    'unified',
    '8.2',
    1107,
    `SessionRequest of ${agentType}`,
    async () => {
      const answer = await send('POST', '/api/sessions', {
        agentType,
        prompt: 'one say',
        config: {
          projectId: 'my-project',
          workingDirectory: server.home,
          model: 'gpt-4',
          approvalMode: 'ask',
        },
      })
      expect(answer, answer.text).toMatchObject({ status: 201 })
      const events = await follow(`/ws/sessions/${idOf(answer)}?dialect=unified`)
      expect(JSON.parse(events[0] ?? '')).toMatchObject({
        type: 'sessionStarted',
        agentType,
        config: { projectId: 'my-project', model: 'gpt-4', approvalMode: 'ask' },
      })
      expect(events.at(-1)).toBe('1000 done')
    },
  ]),
]

describe('a request that a document prints, on a server without configuration', () => {
  test.each(PRINTED)('%s %s, line %i: %s', async (_document, _section, _line, _what, run) => {
    await run()
  })
})
