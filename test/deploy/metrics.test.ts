import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import type { AccessLine } from '../../src/gateway/http/server-stats.ts'
import { StorageCheck } from '../../src/gateway/http/storage-check.ts'
import { MainstemError } from '../../src/model/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { begin, call, fetchFrom, finished } from '../gateway/api.ts'
import { script, success, text } from '../gateway/puppet.ts'
import { startGateway, type TestGateway } from '../gateway/start.ts'
import { SocketReader } from '../gateway/streams/socket.ts'
import { evaluate, fires, type Scrape, scrapeOf } from './expressions.ts'

const rules = readFileSync('deploy/prometheus-rules.yml', 'utf8')
const alerts = new Map(
  [...rules.matchAll(/- alert: (\w+)\n\s+expr: (.+)\n/g)].map(([, name = '', expr = '']) => [name, expr]),
)
const dashboard = readFileSync('deploy/grafana-dashboard.json', 'utf8')
const panels = [...dashboard.matchAll(/"expr": (".*")/g)].map(([, expr = '']) => String(JSON.parse(expr)))

/** What Prometheus adds for each server that it scrapes. */
const UP = 'up{job="mainstem"} '

async function scrape(server: TestGateway, up = 1): Promise<Scrape> {
  const response = await fetchFrom(server, 'GET /metrics')
  return scrapeOf(`${UP}${up}\n${await response.text()}`)
}

/** The names of the alerts that fire. */
const firing = (before: Scrape, now: Scrape) =>
  [...alerts].filter(([, expr]) => fires(expr, before, now)).map(([name]) => name)

test('every expression of the alerts and of the dashboard finds its metrics, and none fires on a server at rest', async () => {
  await using server = await startGateway()
  await begin(server, { prompt: script(text('m', 'done')) })
  const before = await scrape(server)
  const now = await scrape(server)
  expect(alerts.size).toBe(rules.match(/- alert:/g)?.length)
  expect(panels.length).toBeGreaterThan(15)
  for (const expression of panels) expect(evaluate(expression, before, now), expression).not.toEqual([])
  expect(firing(before, now)).toEqual([])
})

test('alerts fire for what they name', async () => {
  let [now, isFailing] = [0, false]
  const probe = async () => {
    if (isFailing) throw new MainstemError('storage_failed', 'the disk is full')
  }
  await using server = await startGateway({
    storage: new StorageCheck({ probe, report: () => undefined }, () => (now += 10_000)),
    disk: async () => ({ free: 5, total: 100 }),
  })
  const before = await scrape(server)
  server.sessions.activity.latency.observe(2_000)
  server.sessions.starts.observe(40_000)
  server.deps.stats.deliveries.observe(8_000)
  isFailing = true
  // Not found is no error of the server; a store that fails is.
  for (let count = 0; count < 12; count++) {
    await call(server, 'GET /v1/sessions/00000000-0000-4000-8000-000000000000')
    server.deps.stats.finished(503, 1, false)
  }
  // Metrics are collected at most once a second.
  let after = before
  const fired = async () => {
    // While the store fails, what is in it is left out.
    after = new Map([...before, ...(await scrape(server, 0))])
    return firing(before, after).sort()
  }
  await expect
    .poll(fired, { timeout: 5_000 })
    .toEqual([
      'MainstemDiskAlmostFull',
      'MainstemDown',
      'MainstemErrors',
      'MainstemSlowAgentStarts',
      'MainstemSlowCommits',
      'MainstemSlowDelivery',
      'MainstemStoreFails',
    ])
  expect(after.get('mainstem_http_requests_total{status="4xx"}')).toBe(12)
})

test('alerts fire for work that waits, and turns that fail', async () => {
  await using server = await startGateway({ maxQueue: 200 })
  const before = await scrape(server)
  const asks = { type: 'request.opened', requestId: 'r', kind: 'permission', blocking: true } as const
  const id = await begin(server, {
    prompt: script({ say: { ...asks, tool: 'Bash', options: [] } }, { wait: true }),
  })
  await server.gate.reached()
  for (let count = 0; count <= 100; count++)
    await call(server, `POST /v1/sessions/${id}/turns`, { body: { prompt: script(success) } })
  for (let count = 0; count < 6; count++)
    await finished(
      server,
      script({ say: { type: 'turn.verdict', evidence: 'error', denials: 0, personDenials: 0 } }),
    )
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 1_000_000 })
  try {
    // Metrics are collected at most once a second.
    await expect
      .poll(async () => firing(before, await scrape(server)).sort(), { timeout: 5_000 })
      .toEqual(['MainstemQueueGrows', 'MainstemRequestWaits', 'MainstemTurnsFail'])
  } finally {
    vi.useRealTimers()
  }
})

test('alerts fire for leases that end, an index that is behind, and connections that run out', async () => {
  const store = memoryStore()
  store.searchLag = async () => ({ since: Date.now() - 400_000, backlog: 7 })
  await using server = await startGateway({
    store,
    terms: { owner: 'a', ttlMs: 30_000 },
    limits: { bodyBytes: 1024, imageBytes: 1024, jsonDepth: 64, connections: 1 },
  })
  await begin(server, { prompt: script(text('m', 'done')) })
  const now = await scrape(server)
  expect(now.get('mainstem_leases')).toBe(1)
  expect(now.get('mainstem_search_backlog_rows')).toBe(7)
  expect(firing(now, now).sort()).toEqual(['MainstemConnectionsAlmostFull', 'MainstemSearchBehind'])
  const left = 'mainstem_lease_left_seconds'
  expect(now.get(left)).toBeGreaterThan(15)
  const moment = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => moment + 15_000)
  const later = await scrape(server).finally(() => clock.mockRestore())
  expect(later.get(left)).toBeLessThan(4)
  expect(firing(now, later)).toContain('MainstemLeasesEnd')
})

test('a store without leases that end has all the time for them', async () => {
  await using server = await startGateway()
  const now = await scrape(server)
  expect(now.get('mainstem_lease_left_seconds')).toBe(Number.POSITIVE_INFINITY)
})

test('the start of an agent is measured until its first output', async () => {
  await using server = await startGateway()
  await begin(server, { prompt: script({ ...text('m', 'done'), wait: true }) })
  await server.gate.reached()
  expect(server.sessions.starts.count).toBe(0)
  await server.gate.open()
  await expect.poll(() => server.sessions.starts.count).toBe(1)
})

test('sessions that are not busy are counted once a minute, however often metrics are read', async () => {
  const store = memoryStore()
  let counted = 0
  const counts = store.counts.bind(store)
  store.counts = () => {
    counted++
    return counts()
  }
  await using server = await startGateway({ store })
  let moment = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => moment)
  try {
    for (let scraped = 0; scraped < 6; scraped++, moment += 15_000) await scrape(server)
  } finally {
    clock.mockRestore()
  }
  expect(counted).toBe(2)
})

test('while the store fails, the metrics of the server itself are there', async () => {
  const store = memoryStore()
  store.counts = () => new Promise(() => undefined)
  const probe = async () => {
    throw new MainstemError('storage_failed', 'the database is away')
  }
  await using server = await startGateway({
    store,
    storage: new StorageCheck({ probe, report: () => undefined }),
  })
  const now = await scrape(server)
  expect(now.get('mainstem_store_writable')).toBe(0)
  expect(now.has('mainstem_agent_processes')).toBe(true)
  expect(now.has('mainstem_queued_prompts')).toBe(false)
})

test('an alert fires for a node that is lost', async () => {
  await using server = await startGateway()
  const before = await scrape(server)
  const state = 'mainstem_nodes{state="lost"}'
  expect(before.get(state)).toBe(0)
  expect(firing(before, new Map([...before, [state, 1]]))).toEqual(['MainstemNodeLost'])
})

test('every alert fires in a test', () => {
  const source = readFileSync(import.meta.filename, 'utf8')
  for (const name of alerts.keys()) expect(source).toContain(`'${name}'`)
})

test('a WebSocket and a request that waits for the next event are no slow requests', async () => {
  const lines: AccessLine[] = []
  await using server = await startGateway({ access: (line) => lines.push(line) })
  const id = await begin(server, { prompt: script({ wait: true }, success) })
  await server.gate.reached()
  const count = () => server.deps.stats.requests.count
  const earlier = count()
  const socket = new SocketReader(server, `/v1/sessions/${id}/events`, {
    headers: { 'x-request-id': 'proxy-18' },
  })
  const upgraded = once(socket.socket, 'upgrade')
  await socket.open()
  const [response] = await upgraded
  expect(response.headers['x-request-id']).toBe('proxy-18')
  const waiting = fetchFrom(server, `GET /v1/sessions/${id}/events?after=99&wait=1`)
  server.gate.open()
  await expect.poll(() => socket.messages.at(-1)).toMatchObject({ event: { type: 'turn.completed' } })
  await (await waiting).text()
  socket.socket.close()
  await expect.poll(() => lines.map(({ status }) => status)).toContain(101)
  expect(count()).toBe(earlier)
  expect(lines.find(({ status }) => status === 101)?.requestId).toBe('proxy-18')
  expect(server.deps.stats.deliveries.count).toBeGreaterThan(0)
})

test('metrics are collected once for all who ask at the same time', async () => {
  const store = memoryStore()
  let asked = 0
  const counts = store.counts.bind(store)
  store.counts = () => {
    asked++
    return counts()
  }
  await using server = await startGateway({ store })
  const texts = await Promise.all(
    Array.from({ length: 20 }, () => fetchFrom(server, 'GET /metrics').then((one) => one.text())),
  )
  expect(texts.every((text) => text.includes('mainstem_sessions'))).toBe(true)
  expect(asked).toBe(1)
})

test('a response has the id of its request, and the access log has it without the query', async () => {
  const lines: object[] = []
  await using server = await startGateway({ access: (line) => lines.push(line) })
  const given = await fetchFrom(server, 'GET /v1/sessions?limit=1', {
    headers: { 'x-request-id': 'proxy-17' },
  })
  expect(given.headers.get('x-request-id')).toBe('proxy-17')
  const forged = await fetchFrom(server, 'GET /v1/agents', { headers: { 'x-request-id': 'a b' } })
  expect(forged.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  const stream = await fetchFrom(server, 'GET /v1/events', { headers: { accept: 'text/event-stream' } })
  expect(stream.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  await stream.body?.cancel()
  await expect.poll(() => lines.length).toBe(3)
  expect(lines[0]).toMatchObject({
    requestId: 'proxy-17',
    method: 'GET',
    path: '/v1/sessions',
    status: 200,
    principal: 'owner',
  })
})
