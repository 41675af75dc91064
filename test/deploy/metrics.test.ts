import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { StorageCheck } from '../../src/gateway/http/storage-check.ts'
import { MainstemError } from '../../src/model/index.ts'
import { begin, call, fetchFrom } from '../gateway/api.ts'
import { script, text } from '../gateway/puppet.ts'
import { startGateway, type TestGateway } from '../gateway/start.ts'
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
  isFailing = true
  // Not found is no error of the server; a store that fails is.
  for (let count = 0; count < 12; count++) {
    await call(server, 'GET /v1/sessions/00000000-0000-4000-8000-000000000000')
    server.deps.stats.finished(503, 1, false)
  }
  const after = await scrape(server, 0)
  expect(firing(before, after).sort()).toEqual([
    'MainstemDiskAlmostFull',
    'MainstemDown',
    'MainstemErrors',
    'MainstemSlowCommits',
    'MainstemStoreFails',
  ])
  expect(after.get('mainstem_http_requests_total{status="4xx"}')).toBe(12)
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
