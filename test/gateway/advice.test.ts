import { request as httpRequest } from 'node:http'
import { describe, expect, it } from 'vitest'
import { codex } from '../../src/agents/codex/agent.ts'
import { gemini } from '../../src/agents/gemini/agent.ts'
import { startGateway, type TestGateway, TOKEN } from './start.ts'

interface Answer {
  id: string
  code: string
  detail: string
  advice: string
}

type Situation = (server: TestGateway) => Promise<Answer>

async function call(
  server: TestGateway,
  route: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const [method = '', path = ''] = route.split(' ')
  const response = await fetch(server.url + path, {
    method,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      accept: 'application/json',
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  return (await response.json()) as Answer
}

const begin =
  (body: object, headers: Record<string, string> = {}): Situation =>
  (server) =>
    call(server, 'POST /v1/sessions', { agent: 'echo', prompt: 'hello', ...body }, headers)

/** `fetch` sets the Host header itself. */
const foreignHost: Situation = (server) =>
  new Promise((resolve, reject) => {
    const headers = { host: 'evil.example', authorization: `Bearer ${TOKEN}` }
    const sent = httpRequest(`${server.url}/v1/sessions`, { headers }, async (response) => {
      resolve(JSON.parse(Buffer.concat(await response.toArray()).toString()))
    })
    sent.on('error', reject).end()
  })

async function ended(server: TestGateway): Promise<Answer> {
  const { id } = await call(server, 'POST /v1/sessions', { agent: 'echo' })
  await call(server, `POST /v1/sessions/${id}/end`)
  return call(server, `POST /v1/sessions/${id}/turns`, { prompt: 'again' })
}

async function cursorAhead(server: TestGateway): Promise<Answer> {
  const { id } = await call(server, 'POST /v1/sessions', { agent: 'echo' })
  return call(server, `GET /v1/sessions/${id}/events?after=999`)
}

async function keyReused(server: TestGateway): Promise<Answer> {
  const key = { 'idempotency-key': 'k1' }
  await begin({ prompt: 'one' }, key)(server)
  return begin({ prompt: 'two' }, key)(server)
}

/** What a user meets, what happened, and the fix. */
const SITUATIONS: readonly [string, Situation, string, RegExp, RegExp][] = [
  [
    'an unknown session',
    (server) => call(server, 'GET /v1/sessions/6f9619ff-8b86-4d01-b42d-00cf4fc964ff'),
    'session_not_found',
    /no such session/,
    /List the sessions/,
  ],
  ['an unknown agent', begin({ agent: 'clade' }), 'agent_not_found', /"clade".*echo/, /one of the known/],
  [
    'a wrong token',
    (server) => call(server, 'GET /v1/sessions', undefined, { authorization: 'Bearer no' }),
    'unauthorized',
    /token/,
    /Send the token that `mainstem serve` wrote/,
  ],
  ['a foreign Host header', foreignHost, 'forbidden', /"evil\.example"/, /127\.0\.0\.1.*`hosts`/],
  [
    'an option that the agent does not have',
    begin({ agent: 'codex', launch: 'oneshot', policy: { maxSteps: 3 } }),
    'unsupported_option',
    /maxSteps is not supported by codex: /,
    /choose an agent that has it/,
  ],
  [
    'an option that only the one-shot launch has',
    begin({ agent: 'gemini', policy: { maxSteps: 3 } }),
    'unsupported_option',
    /maxSteps is not supported by gemini: /,
    /launch to "oneshot".*cannot request approval/,
  ],
  [
    'a policy above the ceiling',
    begin({ policy: { approval: 'auto-all' } }),
    'forbidden',
    /policy\.approval/,
    /Request less, or ask the operator to raise the limit/,
  ],
  ['a cwd outside the roots', begin({ cwd: '/etc' }), 'forbidden', /^cwd: .*roots/, /below a root.*`roots`/],
  [
    'a body that is too large',
    begin({ prompt: 'x'.repeat(5_000) }),
    'too_large',
    /body/,
    /smaller body.*`limits\.imageBytes`/,
  ],
  ['a reused idempotency key', keyReused, 'idempotency_conflict', /"k1"/, /new idempotency key/],
  [
    'a cursor beyond the log',
    cursorAhead,
    'invalid_request',
    /^after: beyond/,
    /or none to read from the start/,
  ],
  ['a session that has ended', ended, 'conflict', /has ended/, /Create a new session/],
]

describe('message and advice fit the situation', () => {
  it.each(SITUATIONS)('%s', async (_, situation, code, detail, advice) => {
    const limits = { bodyBytes: 2_048, imageBytes: 4_096, jsonDepth: 64, connections: 100 }
    await using server = await startGateway({ more: [codex, gemini], limits })
    const problem = await situation(server)
    expect(problem.code).toBe(code)
    expect(problem.detail).toMatch(detail)
    expect(problem.advice).toMatch(advice)
  })
})
