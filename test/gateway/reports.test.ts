import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { tokenOf } from '../../src/gateway/http/auth.ts'
import { coalesce } from '../../src/gateway/http/coalesce.ts'
import { Tickets } from '../../src/gateway/http/tickets.ts'
import type { Usage } from '../../src/model/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { UsedIds } from '../../src/stores/used-ids.ts'
import { begin, call, fetchFrom, finished, SSE } from './api.ts'
import { script, success, text } from './puppet.ts'
import { GUEST, startGateway, type TestGateway, TOKEN } from './start.ts'
import { StreamReader } from './streams/sse.ts'

let server: TestGateway
beforeEach(async () => {
  server = await startGateway()
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

describe('usage', () => {
  const spent = (input: number, costUsd: number) =>
    script({
      say: {
        type: 'turn.verdict',
        evidence: 'success',
        denials: 0,
        personDenials: 0,
        usage: { input, costUsd },
      },
    })

  test('is added up by agent and by day', async () => {
    await finished(server, spent(3, 0.1))
    await finished(server, spent(4, 0.2))
    await finished(server, spent(5, 0.3), { agent: 'able' })
    const { body } = await call(server, 'GET /v1/usage')
    expect(body.total).toEqual({ sessions: 3, turns: 3, usage: { input: 12, costUsd: 0.6 } })
    expect(body.agents).toMatchObject({
      puppet: { sessions: 2, usage: { input: 7, costUsd: 0.3 } },
      able: { sessions: 1, usage: { input: 5, costUsd: 0.3 } },
    })
    const days = Object.values(body.days as Record<string, { sessions: number }>)
    expect(days.reduce((sum, { sessions }) => sum + sessions, 0)).toBe(3)
  })

  test('is added up by model, and a range of days can be read', async () => {
    await finished(server, script({ say: { type: 'session.updated', model: 'large' } }, success))
    const report = async (query = '') => (await call(server, `GET /v1/usage${query}`)).body
    const body = await report()
    expect(body.models).toMatchObject({ large: { turns: 1 }, unknown: { sessions: 1 } })
    expect(body.principals).toMatchObject({ owner: { sessions: 1, turns: 1 } })
    const [today] = Object.keys(Object(body.days))
    expect(body.rows).toMatchObject([{ day: today, principal: 'owner', agent: 'puppet' }, { model: 'large' }])
    expect(await report(`?from=${today}&to=${today}`)).toEqual(body)
    expect(await report('?to=2000-01-01')).toMatchObject({ total: { sessions: 0 }, rows: [] })
    expect(await report('?from=2999-01-01')).toMatchObject({ total: { sessions: 0 }, rows: [] })
  })

  test('of all principals is for the token of the server alone', async () => {
    await using own = await startGateway({
      tokens: async () => [tokenOf('local', TOKEN, ['operator']), tokenOf('guest', GUEST)],
    })
    await finished(own, script(success))
    await begin(own, {}, { token: GUEST })
    const { body } = await call(own, 'GET /v1/usage?all=1')
    expect(body).toMatchObject({
      total: { sessions: 2 },
      principals: { local: { turns: 1 }, guest: { turns: 0 } },
    })
    expect((await call(own, 'GET /v1/usage')).body).toMatchObject({ total: { sessions: 1 } })
    expect(await call(own, 'GET /v1/usage?all=1', { token: GUEST })).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    })
  })

  test('counts sub-agents once, inside a turn and between turns, and shows that a figure is a minimum', async () => {
    const used = { input: 10, output: 5, total: 15 }
    const ofChild = {
      type: 'usage.reported',
      scope: 'subagent',
      subagentId: 'a',
      ...used,
      source: 'agent',
    } as const
    const end = (usage: Usage) =>
      ({ type: 'turn.verdict', evidence: 'success', denials: 0, personDenials: 0, usage }) as const
    const total = { input: 30, output: 15, total: 45 }
    const turn = { type: 'usage.reported', scope: 'turn', ...total, source: 'computed' } as const
    await finished(server, script({ say: ofChild }, { say: turn }, { say: end(total) }, { say: ofChild }))
    await finished(server, script({ say: end({ ...used, partial: true }) }), { agent: 'able' })
    const usage = async () => (await call(server, 'GET /v1/usage')).body
    await expect
      .poll(async () => Object(await usage()).agents.puppet.usage)
      .toEqual({
        input: 40,
        output: 20,
        total: 60,
      })
    expect(await usage()).toMatchObject({
      total: { turns: 2, usage: { input: 50, output: 25, total: 75, partial: true } },
      agents: { able: { usage: { ...used, partial: true } } },
    })
  })

  test('of nothing is nothing', async () => {
    const { body } = await call(server, 'GET /v1/usage')
    const total = { sessions: 0, turns: 0, usage: {} }
    expect(body).toEqual({ total, agents: {}, models: {}, principals: {}, days: {}, rows: [] })
  })
})

describe('a blob', () => {
  async function withBlob() {
    const store = memoryStore()
    const writer = store.blobs.open()
    writer.write(new TextEncoder().encode('<b>large</b>'))
    const blob = await writer.close()
    const own = await startGateway({ store })
    const id = await finished(
      own,
      script({ say: { type: 'native.unmapped', nativeType: 'large', blob } }, success),
    )
    return { own, id, blob }
  }

  test('is read through the session that refers to it, as bytes that no browser runs', async () => {
    const { own, id, blob } = await withBlob()
    await using _ = own
    const response = await fetchFrom(own, `GET /v1/blobs/${id}/${blob.id}`)
    expect(await response.text()).toBe('<b>large</b>')
    expect(response.headers.get('content-type')).toBe('application/octet-stream')
    expect(response.headers.get('content-disposition')).toBe('attachment')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  })

  test.each([
    ['bytes=3-7', 'large', 'bytes 3-7/12'],
    ['bytes=8-', '</b>', 'bytes 8-11/12'],
    ['bytes=-4', '</b>', 'bytes 8-11/12'],
    ['bytes=8-99', '</b>', 'bytes 8-11/12'],
  ])('is read in part with Range: %s', async (range, part, contentRange) => {
    const { own, id, blob } = await withBlob()
    await using _ = own
    const response = await fetchFrom(own, `GET /v1/blobs/${id}/${blob.id}`, { headers: { range } })
    expect(response.status).toBe(206)
    expect(response.headers.get('content-range')).toBe(contentRange)
    expect(await response.text()).toBe(part)
  })

  test.each(['bytes=12-', 'bytes=-', 'bytes=1-2,4-5', 'lines=1-2'])(
    'is read whole with a Range that it does not have or know: %s',
    async (range) => {
      const { own, id, blob } = await withBlob()
      await using _ = own
      const response = await fetchFrom(own, `GET /v1/blobs/${id}/${blob.id}`, { headers: { range } })
      expect(response.status).toBe(200)
      expect(await response.text()).toBe('<b>large</b>')
    },
  )

  test('is not read through another session, nor by another principal', async () => {
    const { own, id, blob } = await withBlob()
    await using _ = own
    const other = await begin(own)
    expect(await call(own, `GET /v1/blobs/${other}/${blob.id}`)).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    })
    const theirs = await begin(own, {}, { token: GUEST })
    for (const session of [id, theirs]) {
      expect((await call(own, `GET /v1/blobs/${session}/${blob.id}`, { token: GUEST })).status).toBe(404)
    }
  })
})

test('agents are listed', async () => {
  const agents = async () => [
    { id: 'echo', name: 'Echo', state: 'built_in' as const, launches: {}, credentials: [] },
  ]
  await using own = await startGateway({ agents })
  const { body } = await call(own, 'GET /v1/agents')
  expect(body.agents).toMatchObject([{ id: 'echo', state: 'built_in' }])
})

test('those who ask at once share one look, also where it fails', async () => {
  let looks = 0
  const ask = coalesce(async () => {
    if (++looks === 2) throw new Error('once')
    return looks
  })
  expect(await Promise.all([ask(), ask()])).toEqual([1, 1])
  const failed = await Promise.allSettled([ask(), ask()])
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await ask()).toBe(3)
})

test('metrics tell what there is, in the format of Prometheus', async () => {
  await finished(server, script(text('m', 'x'), success))
  const id = await begin(server)
  const reader = new StreamReader(await fetchFrom(server, `GET /v1/sessions/${id}/events`, { headers: SSE }))
  await reader.until('session.started')
  const response = await fetchFrom(server, 'GET /metrics')
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  const lines = (await response.text()).split('\n')
  expect(lines).toEqual(
    expect.arrayContaining([
      'mainstem_sessions{status="ended"} 1',
      'mainstem_sessions{status="idle"} 1',
      'mainstem_turns_total{outcome="completed"} 1',
      'mainstem_turns_total{outcome="lost"} 0',
      `mainstem_events_total ${server.sessions.activity.head}`,
      'mainstem_open_streams 1',
    ]),
  )
  expect(Number(lines.find((line) => line.startsWith('process_resident'))?.split(' ')[1])).toBeGreaterThan(
    1e6,
  )
  for (const line of lines)
    expect(line).toMatch(/^(|# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[\w.+]+"\})? ([\d.e-]+|\+Inf))$/)
})

describe('a ticket', () => {
  const ticket = async (token = TOKEN) => {
    const { body, headers } = await call(server, 'POST /v1/tickets', { token })
    expect(headers.get('cache-control')).toBe('no-store')
    return String(body.ticket)
  }
  const get = (path: string, headers: Record<string, string> = {}) => fetch(server.url + path, { headers })

  test('stands in for its token once', async () => {
    const id = await begin(server)
    const path = `/v1/sessions/${id}/events?ticket=${await ticket()}`
    expect((await get(path)).status).toBe(200)
    expect((await get(path)).status).toBe(401)
  })

  test('is its own principal, and no other', async () => {
    const id = await begin(server)
    expect((await get(`/v1/sessions/${id}/events?ticket=${await ticket(GUEST)}`)).status).toBe(404)
  })

  test('opens only what a browser opens', async () => {
    const id = await begin(server)
    expect((await get(`/v1/sessions/${id}?ticket=${await ticket()}`)).status).toBe(401)
    for (const path of ['/docs', '/openapi.json']) {
      expect((await get(`${path}?ticket=${await ticket()}`)).status).toBe(200)
    }
  })

  test('does not mend a wrong header', async () => {
    const wrong = await get(`/docs?ticket=${await ticket()}`, { authorization: 'Bearer wrong' })
    expect(wrong.status).toBe(401)
  })

  test.each(['', 'x', 'a&ticket=b'])('%j is none', async (value) => {
    expect((await get(`/docs?ticket=${value}`)).status).toBe(401)
  })

  const holder = tokenOf('a', TOKEN)

  test('lasts thirty seconds, and nothing is kept of those that are not used', async () => {
    let now = 1_800_000_000_000
    const tickets = new Tickets(new UsedIds(() => now))
    const issued = await Promise.all(Array.from({ length: 1_000 }, () => tickets.issue(holder)))
    const [early = '', late = ''] = issued
    now += 29_999
    expect(await tickets.redeem(early, [holder])).toBe(holder)
    expect(await tickets.redeem(early, [holder])).toBeUndefined()
    now += 1
    expect(await tickets.redeem(late, [holder])).toBeUndefined()
  })

  test('ends with its token, and with the process that forgets which were used', async () => {
    let now = 1_800_000_000_000
    const ticket = await new Tickets(new UsedIds(() => now)).issue(holder)
    const tickets = new Tickets(new UsedIds(() => now))
    expect(await tickets.redeem(ticket, [tokenOf('a', GUEST)])).toBeUndefined()
    now += 1
    const later = new Tickets(new UsedIds(() => now))
    expect(await later.redeem(ticket, [holder])).toBeUndefined()
    expect(await tickets.redeem(ticket, [holder])).toBe(holder)
  })
})
