import { z } from 'zod'
import { Capabilities, LaunchKind } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { coalesce } from '../http/coalesce.ts'
import { named } from '../http/components.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'

/** What can be said about an agent without asking it to work. */
const AgentStatus = named(
  'AgentStatus',
  z.strictObject({
    id: z.string(),
    name: z.string(),
    state: z.enum(['built_in', 'missing', 'broken', 'needs_login', 'installed', 'ready']),
    program: z.string().optional(),
    version: z.string().optional(),
    testedVersion: z.string().optional(),
    fit: z.string().optional().describe('the version beside the tested one'),
    launches: z.partialRecord(LaunchKind, Capabilities),
    sessions: z.string().optional().describe('where the agent keeps its own sessions'),
    credentials: z
      .array(
        z.union([
          z.strictObject({ variable: z.string(), launch: LaunchKind.optional() }),
          z.strictObject({ file: z.string() }),
        ]),
      )
      .readonly()
      .describe('what there is to be billed, by name alone'),
    billedBySettings: z.boolean().optional(),
    note: z.string().optional(),
    fix: z.string().optional().describe('the command that is the next step'),
  }),
)
export type AgentStatus = z.infer<typeof AgentStatus>

const AgentList = named('AgentList', z.strictObject({ agents: z.array(AgentStatus) }))

export function agentsEndpoint(deps: GatewayDeps): Endpoint {
  // Programs are started to be asked.
  const ask = coalesce(() => deps.agents())
  return endpoint({
    method: 'GET',
    url: '/v1/agents',
    summary: 'Which agents can be used, and what the others need',
    answer: AgentList,
    async run() {
      return { agents: await ask() }
    },
  })
}
