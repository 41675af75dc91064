import * as z from 'zod'
import { Capabilities, LaunchKind } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { coalesce } from '../http/coalesce.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { named } from '../http/openapi/components.ts'

/** The status of an agent, determined without running a task. */
const AgentStatus = named(
  'AgentStatus',
  z.strictObject({
    id: z.string(),
    name: z.string(),
    state: z.enum(['built_in', 'missing', 'broken', 'needs_login', 'installed', 'ready']),
    program: z.string().optional(),
    version: z.string().optional(),
    testedVersion: z.string().optional(),
    untested: z
      .string()
      .optional()
      .describe('why the installed program is not among the tested ones; absent if it is'),
    fit: z.string().optional().describe('the version relative to the tested one'),
    launches: z.partialRecord(LaunchKind, Capabilities),
    sessions: z.string().optional().describe("the directory of the agent's native sessions"),
    credentials: z
      .array(
        z.union([
          z.strictObject({ variable: z.string(), launch: LaunchKind.optional() }),
          z.strictObject({ file: z.string() }),
        ]),
      )
      .readonly()
      .describe('the credentials that were found, by name only'),
    billedBySettings: z.boolean().optional(),
    note: z.string().optional(),
    fix: z.string().optional().describe('the command to run next'),
  }),
)
export type AgentStatus = z.infer<typeof AgentStatus>

const AgentList = named('AgentList', z.strictObject({ agents: z.array(AgentStatus) }))

/** How long a list is shown to everybody who asks. */
const KEPT_MS = 1_000

export function agentsEndpoint(deps: GatewayDeps): Endpoint {
  // Each call looks for the programs of all agents, and starts those that it finds.
  const ask = coalesce(() => deps.agents(), KEPT_MS)
  return endpoint({
    method: 'GET',
    url: '/v1/agents',
    summary: 'List the agents, and what is missing to use the others',
    answer: AgentList,
    async run() {
      return { agents: await ask() }
    },
  })
}
