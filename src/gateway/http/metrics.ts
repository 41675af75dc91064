import type { Server } from 'node:http'
import { promisify } from 'node:util'
import * as z from 'zod'
import { Outcome, SessionRecord } from '../../model/index.ts'
import type { SessionLogs } from '../../reading/session-logs.ts'
import type { GatewayDeps } from '../deps.ts'
import { NODE_STATES, nodeState } from '../v1/nodes.ts'
import { openRequests } from '../v1/requests.ts'
import { coalesce } from './coalesce.ts'
import { type Endpoint, endpoint } from './endpoint.ts'
import { latency, type Metric, single, write } from './metrics-text.ts'

const TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Every token may read them, and they are collected from the whole store. */
const VALID_MS = 1_000

/** Idle and ended sessions are counted by reading an index of all sessions, so that is done less often. */
const COUNTS_VALID_MS = 60_000

/** Metrics in the Prometheus text format. */
export function metricsEndpoint(deps: GatewayDeps): Endpoint {
  let last: { text: string; at: number } | undefined
  let read: (() => Promise<string>) | undefined
  const counts = sessionCounts(deps.sessions)
  const collect = async (server: Server) => {
    last = { text: (await metrics(deps, server, counts)).map(write).join(''), at: performance.now() }
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

type StatusCounts = Awaited<ReturnType<SessionLogs['counts']>>

/** The sessions of each status, counted at most once a minute. */
function sessionCounts(sessions: Pick<SessionLogs, 'counts'>): () => Promise<StatusCounts> {
  let last: { counts: StatusCounts; at: number } | undefined
  return async () => {
    const isFresh = last !== undefined && performance.now() - last.at < COUNTS_VALID_MS
    if (!isFresh || !last) last = { at: performance.now(), counts: await sessions.counts() }
    return last.counts
  }
}

async function metrics(
  deps: GatewayDeps,
  server: Server,
  counts: () => Promise<StatusCounts>,
): Promise<Metric[]> {
  const { activity, starts } = deps.sessions
  const isWritable = await deps.storage.run().then(
    () => true,
    () => false,
  )
  return [
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
    single('mainstem_open_streams', 'gauge', 'Open streams.', deps.streams.open),
    single('mainstem_agent_processes', 'gauge', 'Agent processes of this server.', deps.processes()),
    single('mainstem_store_writable', 'gauge', '1 while the store can be written.', isWritable ? 1 : 0),
    // A store that is away would delay the other figures beyond the timeout of Prometheus.
    ...(isWritable ? await storeMetrics(deps, counts) : []),
    ...leaseMetrics(deps),
    latency('mainstem_commit_seconds', 'From an entry to its commit.', activity.latency),
    latency('mainstem_delivery_seconds', 'From an entry to its message on a stream.', deps.stats.deliveries),
    latency('mainstem_agent_start_seconds', 'From the start of an agent to its first output.', starts),
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

/** What is in the store: the sessions, the work that waits, the nodes, and the index of the search. */
async function storeMetrics(deps: GatewayDeps, counts: () => Promise<StatusCounts>): Promise<Metric[]> {
  const nodes = await deps.cluster.nodes()
  return [
    {
      name: 'mainstem_nodes',
      kind: 'gauge',
      help: 'Servers that share the store.',
      values: NODE_STATES.map((state) => [
        `{state="${state}"}`,
        nodes.filter((node) => nodeState(node) === state).length,
      ]),
    },
    ...(await workMetrics(deps, await counts())),
    ...(await searchMetrics(deps)),
  ]
}

/** What waits for a person, or for its turn. */
async function workMetrics(deps: GatewayDeps, counts: StatusCounts): Promise<Metric[]> {
  let [requests, queued, busy] = [0, 0, 0]
  let oldest: number | undefined
  for await (const record of deps.sessions.allRecords({ asking: true })) {
    const open = await openRequests(deps, record)
    requests += open.length
    for (const { at } of open) oldest = Math.min(oldest ?? at, at)
  }
  for await (const { queue } of deps.sessions.allRecords({ status: 'busy' })) {
    busy++
    queued += queue.length
  }
  return [
    {
      name: 'mainstem_sessions',
      kind: 'gauge',
      help: 'Retained sessions. Those that are not busy are counted once a minute.',
      values: SessionRecord.shape.status.options.map((status) => [
        `{status="${status}"}`,
        status === 'busy' ? busy : (counts.get(status) ?? 0),
      ]),
    },
    single('mainstem_open_requests', 'gauge', 'Requests that wait for an answer.', requests),
    single(
      'mainstem_open_request_age_seconds',
      'gauge',
      'Age of the oldest open request.',
      secondsSince(oldest),
    ),
    single('mainstem_queued_prompts', 'gauge', 'Prompts in the queues of busy sessions.', queued),
  ]
}

async function searchMetrics({ sessions }: GatewayDeps): Promise<Metric[]> {
  const { since, backlog } = await sessions.searchLag()
  const lag = secondsSince(since)
  return [
    single('mainstem_search_lag_seconds', 'gauge', 'Age of the oldest new entry that is not indexed.', lag),
    single('mainstem_search_backlog_rows', 'gauge', 'Old rows that are not indexed yet, at most.', backlog),
  ]
}

function leaseMetrics({ sessions }: GatewayDeps): Metric[] {
  const { held, ttlMs, leftMs } = sessions.ownership.state
  return [
    single('mainstem_leases', 'gauge', 'Sessions that this server has leased.', held),
    single('mainstem_lease_seconds', 'gauge', 'Duration of a lease.', ttlMs / 1000),
    single('mainstem_lease_left_seconds', 'gauge', 'Time left to renew the leases.', leftMs / 1000),
  ]
}

function secondsSince(at: number | undefined): number {
  return at === undefined ? 0 : Math.max(0, Date.now() - at) / 1000
}

async function serverMetrics({ disk, limits }: GatewayDeps, server: Server): Promise<Metric[]> {
  const { free, total } = await disk()
  const connections = await promisify(server.getConnections.bind(server))()
  return [
    single('mainstem_connections', 'gauge', 'Open TCP connections.', connections),
    single('mainstem_connections_limit', 'gauge', 'TCP connections that are accepted.', limits.connections),
    single('mainstem_disk_free_bytes', 'gauge', 'Free bytes on the disk of the data directory.', free),
    single('mainstem_disk_bytes', 'gauge', 'Size of the disk of the data directory.', total),
  ]
}
