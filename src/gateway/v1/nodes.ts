import * as z from 'zod'
import type { RegisteredNode } from '../../nodes/cluster.ts'
import type { GatewayDeps } from '../deps.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { named } from '../http/openapi/components.ts'

export const NODE_STATES = ['ready', 'draining', 'lost'] as const

const ServerNodeJson = named(
  'ServerNode',
  z.strictObject({
    name: z.string(),
    state: z.enum(NODE_STATES).describe('`lost`: the node did not renew its registration in time'),
    self: z.boolean().describe('true for the node that answered'),
    url: z.string().optional().describe('where clients reach the node'),
    version: z.string(),
    labels: z.array(z.string()),
    roots: z.array(z.string()).describe('agents of the node work below these directories'),
    processes: z.int().nonnegative().describe('agent processes that run'),
    maxProcesses: z.int().positive(),
    seenMs: z.number().nonnegative().describe('milliseconds since the node renewed its registration'),
  }),
)
type ServerNodeJson = z.infer<typeof ServerNodeJson>

const NodeList = named(
  'NodeList',
  z.strictObject({
    nodes: z.array(ServerNodeJson).describe('by name; empty if this server shares its store with none'),
  }),
)

export function nodesEndpoint(deps: GatewayDeps): Endpoint {
  return endpoint({
    method: 'GET',
    url: '/v1/nodes',
    summary: 'List the servers that share the store',
    answer: NodeList,
    async run() {
      const nodes = await deps.cluster.nodes()
      return { nodes: nodes.map((node) => statusOf(node, deps.cluster.name)) }
    },
  })
}

export function nodeState({ live, draining }: RegisteredNode): ServerNodeJson['state'] {
  if (!live) return 'lost'
  return draining ? 'draining' : 'ready'
}

function statusOf(node: RegisteredNode, self: string | undefined): ServerNodeJson {
  const { live: _, draining: __, labels, roots, ...rest } = node
  return {
    ...rest,
    labels: [...labels],
    roots: [...roots],
    state: nodeState(node),
    self: node.name === self,
  }
}
