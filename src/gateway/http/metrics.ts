import type { Server } from 'node:http'
import { promisify } from 'node:util'
import * as z from 'zod'
import { Outcome, SessionRecord } from '../../model/index.ts'
import type { Latency } from '../../sessions/log/latency.ts'
import type { GatewayDeps } from '../deps.ts'
import { NODE_STATES, nodeState } from '../v1/nodes.ts'
import { openRequests } from '../v1/requests.ts'
import { coalesce } from './coalesce.ts'
import { type Endpoint, endpoint } from './endpoint.ts'

const TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Every token may read them, and they are collected from the whole store. */
const VALID_MS = 1_000

type Sample = readonly [labels: string, value: number]

interface Metric {
  name: string
  kind: 'counter' | 'gauge' | 'histogram'
  help: string
  /** Values by their label text, which follows the ending of a name in a histogram. */
  values: Iterable<Sample>
}

/** Metrics in the Prometheus text format. */
export function metricsEndpoint(deps: GatewayDeps): Endpoint {
  let last: { text: string; at: number } | undefined
  let read: (() => Promise<string>) | undefined
  const collect = async (server: Server) => {
    last = { text: (await metrics(deps, server)).map(write).join(''), at: performance.now() }
    return last.text
  }
  return endpoint({
    method: 'GET',
    url: '/metrics',
    summary: 'Get the metrics of the server in the Prometheus format',
    answers: { 'text/plain': z.string() },
    async run({ request, reply }) {
      read ??= coalesce(() => collect(request.server.server))
      const isFresh = last !== undefined && performance.now() - last.at < VALID_MS
      return reply.type(TYPE).send(isFresh ? last?.text : await read())
    },
  })
}

async function metrics(deps: GatewayDeps, server: Server): Promise<Metric[]> {
  const { activity } = deps.sessions
  const counts = await deps.sessions.counts()
  const nodes = await deps.cluster.nodes()
  const work = await workMetrics(deps)
  return [
    {
      name: 'mainstem_sessions',
      kind: 'gauge',
      help: 'Retained sessions.',
      values: SessionRecord.shape.status.options.map((status) => [
        `{status="${status}"}`,
        counts.get(status) ?? 0,
      ]),
    },
    {
      name: 'mainstem_turns_total',
      kind: 'counter',
      help: 'Turns that ended since the start.',
      values: Outcome.options.map((outcome) => [
        `{outcome="${outcome}"}`,
        activity.outcomes.get(outcome) ?? 0,
      ]),
    },
    single('mainstem_events_total', 'counter', 'Events committed since the start.', activity.head),
    {
      name: 'mainstem_nodes',
      kind: 'gauge',
      help: 'Servers that share the store.',
      values: NODE_STATES.map((state) => [
        `{state="${state}"}`,
        nodes.filter((node) => nodeState(node) === state).length,
      ]),
    },
    single('mainstem_open_streams', 'gauge', 'Open streams.', deps.streams.open),
    ...work,
    latency('mainstem_commit_seconds', 'From an entry to its commit.', activity.latency),
    latency('mainstem_delivery_seconds', 'From an entry to its message on a stream.', deps.stats.deliveries),
    latency('mainstem_http_request_seconds', 'Duration of requests, without streams.', deps.stats.requests),
    {
      name: 'mainstem_http_requests_total',
      kind: 'counter',
      help: 'Requests by the first digit of their status.',
      values: ['2xx', '3xx', '4xx', '5xx'].map((kind) => [
        `{status="${kind}"}`,
        deps.stats.statuses.get(kind) ?? 0,
      ]),
    },
    ...(await serverMetrics(deps, server)),
    single('process_resident_memory_bytes', 'gauge', 'Resident memory.', process.memoryUsage.rss()),
  ]
}

/** What waits for a person, for its turn, or for an agent. */
async function workMetrics(deps: GatewayDeps): Promise<Metric[]> {
  let [requests, queued] = [0, 0]
  let oldest: number | undefined
  for await (const record of deps.sessions.allRecords({ asking: true })) {
    const open = await openRequests(deps, record)
    requests += open.length
    for (const { at } of open) oldest = Math.min(oldest ?? at, at)
  }
  for await (const { queue } of deps.sessions.allRecords({ status: 'busy' })) queued += queue.length
  const age = oldest === undefined ? 0 : Math.max(0, Date.now() - oldest) / 1000
  return [
    single('mainstem_open_requests', 'gauge', 'Requests that wait for an answer.', requests),
    single('mainstem_open_request_age_seconds', 'gauge', 'Age of the oldest open request.', age),
    single('mainstem_queued_prompts', 'gauge', 'Prompts in the queues of busy sessions.', queued),
    single('mainstem_agent_processes', 'gauge', 'Agent processes of this server.', deps.processes()),
  ]
}

async function serverMetrics({ disk, storage }: GatewayDeps, server: Server): Promise<Metric[]> {
  const { free, total } = await disk()
  const connections = await promisify(server.getConnections.bind(server))()
  const writable = await storage.run().then(
    () => 1,
    () => 0,
  )
  return [
    single('mainstem_connections', 'gauge', 'Open TCP connections.', connections),
    single('mainstem_store_writable', 'gauge', '1 while the store can be written.', writable),
    single('mainstem_disk_free_bytes', 'gauge', 'Free bytes on the disk of the data directory.', free),
    single('mainstem_disk_bytes', 'gauge', 'Size of the disk of the data directory.', total),
  ]
}

function latency(name: string, help: string, measured: Latency): Metric {
  const buckets = [...measured.buckets()].map(([bound, count]): Sample => [`_bucket{le="${bound}"}`, count])
  const ends: Sample[] = [
    ['_bucket{le="+Inf"}', measured.count],
    ['_sum', measured.sum],
    ['_count', measured.count],
  ]
  return { name, kind: 'histogram', help, values: [...buckets, ...ends] }
}

function single(name: string, kind: Metric['kind'], help: string, value: number): Metric {
  return { name, kind, help, values: [['', value]] }
}

function write({ name, kind, help, values }: Metric): string {
  let text = `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`
  for (const [labels, value] of values) text += `${name}${labels} ${value}\n`
  return text
}
