import * as z from 'zod'
import { Outcome, SessionRecord } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { NODE_STATES, nodeState } from '../v1/nodes.ts'
import { type Endpoint, endpoint } from './endpoint.ts'

const TYPE = 'text/plain; version=0.0.4; charset=utf-8'

interface Metric {
  name: string
  kind: 'counter' | 'gauge'
  help: string
  /** Values by their label text. */
  values: Iterable<readonly [labels: string, value: number]>
}

/** Metrics in the Prometheus text format. */
export function metricsEndpoint(deps: GatewayDeps): Endpoint {
  return endpoint({
    method: 'GET',
    url: '/metrics',
    summary: 'Get the metrics of the server in the Prometheus format',
    answers: { 'text/plain': z.string() },
    run: async ({ reply }) => reply.type(TYPE).send((await metrics(deps)).map(write).join('')),
  })
}

async function metrics(deps: GatewayDeps): Promise<Metric[]> {
  const { activity } = deps.sessions
  const counts = await deps.sessions.counts()
  const nodes = await deps.cluster.nodes()
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
    single('process_resident_memory_bytes', 'gauge', 'Resident memory.', process.memoryUsage.rss()),
  ]
}

function single(name: string, kind: Metric['kind'], help: string, value: number): Metric {
  return { name, kind, help, values: [['', value]] }
}

function write({ name, kind, help, values }: Metric): string {
  let text = `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`
  for (const [labels, value] of values) text += `${name}${labels} ${value}\n`
  return text
}
