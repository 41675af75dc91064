import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Emitted } from '../../../src/agents/agent.ts'
import { tokenOf } from '../../../src/gateway/http/auth.ts'
import { endpointsOf } from '../../../src/gateway/routes.ts'
import { begin, call, fetchFrom, NDJSON, SSE } from '../api.ts'
import { script, success, text } from '../puppet.ts'
import { sendRaw } from '../raw.ts'
import { GUEST, startGateway, type TestGateway } from '../start.ts'
import { SocketReader } from '../streams/socket.ts'
import { StreamReader } from '../streams/sse.ts'

const [ANN, BOT] = ['a-token-of-ann', 'a-token-of-the-bot']
let server: TestGateway
beforeEach(async () => {
  server = await startGateway()
  for (const [name, token] of [
    ['ann', ANN],
    ['bot', BOT],
  ] as const)
    await call(server, 'POST /v1/tokens', { body: { name, digest: tokenOf('', token).digest } })
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

const add = (to: string, of: string, token?: string) =>
  call(server, 'POST /v1/grants', { body: { to, of }, ...(token !== undefined && { token }) })
const remove = (to: string, of: string, token?: string) =>
  call(server, `DELETE /v1/grants/${to}/${of}`, token === undefined ? {} : { token })
const grants = async (token?: string) =>
  (await call(server, 'GET /v1/grants', token === undefined ? {} : { token })).body.grants

const ask: { say: Emitted } = {
  say: {
    ...{ type: 'request.opened', requestId: 'r1', kind: 'permission', blocking: true },
    ...{ tool: 'Bash', input: { command: 'ls' }, options: [] },
  },
}
const asking = script(ask, { ...success, wait: true })

/** A session of ann whose agent asks. */
async function asked(): Promise<string> {
  const id = await begin(server, { prompt: asking }, { token: ANN })
  await server.gate.reached()
  return id
}

const requests = async (token: string) =>
  (await call(server, 'GET /v1/requests', { token })).body.requests as {
    session: string
    request: { inputDigest: string }
  }[]

describe('grants', () => {
  test('are added by an operator, shown to both sides, and removed by the operator or the owner', async () => {
    expect((await add('bot', 'ann')).status).toBe(204)
    const grant = { to: 'bot', of: 'ann', at: expect.any(Number), by: 'owner' }
    for (const token of [undefined, ANN, BOT]) expect(await grants(token)).toEqual([grant])
    expect(await grants(GUEST)).toEqual([])
    expect((await add('bot', 'ann')).status).toBe(409)
    expect((await remove('bot', 'ann', ANN)).status).toBe(204)
    expect((await remove('bot', 'ann')).status).toBe(404)
    await add('bot', 'ann')
    expect((await remove('bot', 'ann')).status).toBe(204)
    expect(await grants()).toEqual([])
  })

  test('are refused from anybody else, and for names that nobody has', async () => {
    for (const token of [ANN, BOT, GUEST]) expect((await add('bot', 'ann', token)).status).toBe(403)
    await add('bot', 'ann')
    for (const token of [BOT, GUEST]) expect((await remove('bot', 'ann', token)).status).toBe(403)
    expect((await add('bto', 'ann')).body.detail).toBe('no token bto')
    expect((await add('bot', 'nan')).status).toBe(404)
    expect((await add('bot', 'bot')).status).toBe(400)
  })
})

/** What a grant covers. Everything else responds as if the session did not exist. */
const COVERED = new Set([
  'GET /v1/sessions/:id',
  'GET /v1/sessions/:id/events',
  'GET /v1/blobs/:session/:id',
  'POST /v1/sessions/:id/requests/:requestId',
])

/** Bodies that each route accepts. */
const BODIES: Readonly<Record<string, unknown>> = {
  'POST /v1/sessions/:id/turns': { prompt: 'x' },
  'POST /v1/sessions/:id/steer': { prompt: 'x' },
  'POST /v1/sessions/:id/agent': { agent: 'able' },
  'POST /v1/sessions/:id/name': { name: 'x' },
  'POST /v1/sessions/:id/model': { model: 'x' },
  'POST /v1/sessions/:id/mode': { policy: { approval: 'ask', sandbox: 'none' } },
  'POST /v1/sessions/:id/goal': { goal: 'x' },
  'POST /v1/sessions/:id/rewind': { turn: 1 },
  'POST /v1/sessions/:id/requests/:requestId': { decision: 'deny', inputDigest: 'x' },
}

describe('a principal with a grant', () => {
  test('may use these routes of a session, and no other', async () => {
    await add('bot', 'ann')
    const id = await asked()
    const open: string[] = []
    const routes = endpointsOf(server.deps).filter(({ url }) => /:(?:id|session)\b/.test(url))
    expect(routes.length).toBeGreaterThan(20)
    for (const { method, url } of routes) {
      // Their ids are not those of sessions.
      if (['/v1/logins/', '/v1/webhooks/', '/ws/'].some((other) => url.startsWith(other))) continue
      const name = `${method} ${url}`
      const path = url.replace(/:session|(?<=sessions\/):id/, id).replaceAll(/:\w+/g, '1')
      const body = method === 'POST' ? (BODIES[name] ?? {}) : undefined
      const refusal = async (token: string) => {
        const response = await fetchFrom(server, `${method} ${path}`, {
          token,
          ...(body !== undefined && { body }),
        })
        return /"code":"session_not_found"/.exec(await response.text())?.[0]
      }
      expect(await refusal(GUEST), name).toBeDefined()
      const seen = await refusal(BOT)
      if (COVERED.has(name)) expect(seen, name).toBeUndefined()
      else expect(seen, name).toBeDefined()
      open.push(name)
    }
    expect(open).toEqual(expect.arrayContaining([...COVERED]))
    const upgrade = `upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${'A'.repeat(22)}==`
    const head = `GET /ws/sessions/${id} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${BOT}`
    const socket = await sendRaw(server.port, `${head}\r\nconnection: upgrade\r\n${upgrade}\r\n\r\n`)
    expect(socket).toContain('session_not_found')
    expect((await call(server, `GET /v1/sessions/${id}`, { token: ANN })).body.status).toBe('busy')
  })

  test('lists and answers the requests of the owner, and the log names who answered', async () => {
    const id = await asked()
    expect(await requests(BOT)).toEqual([])
    await add('bot', 'ann')
    const [open] = await requests(BOT)
    expect(open?.session).toBe(id)
    const sessions = (await call(server, 'GET /v1/sessions', { token: BOT })).body.sessions
    expect(sessions).toMatchObject([{ id, principal: 'ann' }])
    const answered = await call(server, `POST /v1/sessions/${id}/requests/r1`, {
      token: BOT,
      headers: { 'idempotency-key': 'k1' },
      body: { decision: 'allow', inputDigest: open?.request.inputDigest },
    })
    expect(answered.status).toBe(200)
    const { entries } = (await call(server, `GET /v1/sessions/${id}/events`, { token: BOT })).body
    expect(JSON.stringify(entries)).toMatch(/"type":"request.resolved"[^}]*"principal":"bot"/)
  })

  test('does not get what others see by the grant the other way round, or of a third', async () => {
    await add('bot', 'ann')
    await begin(server, { prompt: script(success) }, { token: BOT })
    await begin(server, { prompt: script(success) }, { token: GUEST })
    expect((await call(server, 'GET /v1/sessions', { token: ANN })).body).toEqual({ sessions: [] })
    const { sessions } = (await call(server, 'GET /v1/sessions', { token: BOT })).body as {
      sessions: { principal: string }[]
    }
    expect(sessions.map(({ principal }) => principal)).toEqual(['bot'])
    const search = await call(server, 'GET /v1/search?q=r1', { token: BOT })
    expect(search.body).toMatchObject({ hits: [] })
    expect((await call(server, 'GET /v1/usage', { token: BOT })).body).toMatchObject({
      rows: expect.not.arrayContaining([expect.objectContaining({ principal: 'ann' })]),
    })
  })

  test('follows all sessions from the addition of the grant to its removal', async () => {
    const follow = await fetchFrom(server, 'GET /v1/events', { headers: NDJSON, token: BOT })
    const reader = new StreamReader(follow)
    const before = await begin(server, { prompt: script(success) }, { token: ANN })
    await server.sessions.get(before)?.ended(1)
    await add('bot', 'ann')
    const during = await begin(server, { prompt: script(text('m', 'seen'), success) }, { token: ANN })
    await reader.until('"text":"seen"')
    await remove('bot', 'ann')
    const after = await begin(server, { prompt: script(success) }, { token: ANN })
    await server.sessions.get(after)?.ended(1)
    const own = await begin(server, { prompt: script(text('m', 'mine'), success) }, { token: BOT })
    await reader.until('"text":"mine"')
    const ids = new Set(
      reader.text.split('\n').flatMap((line) => /"session":"([^"]+)"/.exec(line)?.[1] ?? []),
    )
    expect([...ids]).toEqual([during, own])
  })

  test('loses its open streams with the grant, and keeps its own', async () => {
    await add('bot', 'ann')
    const [theirs, mine] = [
      await asked(),
      await begin(server, { prompt: script({ ...success, wait: true }) }, { token: BOT }),
    ]
    const follow = async (id: string) =>
      new StreamReader(await fetchFrom(server, `GET /v1/sessions/${id}/events`, { headers: SSE, token: BOT }))
    const [lost, kept] = [await follow(theirs), await follow(mine)]
    const socket = await new SocketReader(server, `/v1/sessions/${theirs}/events`, { token: BOT }).open()
    await remove('bot', 'ann')
    await expect(lost.whole()).rejects.toThrow()
    expect(await socket.closed).toEqual({ code: 4403, reason: 'the grant was removed' })
    expect((await call(server, `GET /v1/sessions/${theirs}`, { token: BOT })).status).toBe(404)
    await server.sessions.get(mine)?.end()
    expect(await kept.whole()).toContain('session.ended')
  })
})
