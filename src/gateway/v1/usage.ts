import { z } from 'zod'
import { addUsage, Usage } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { named } from '../http/components.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'

const Spent = named(
  'Spent',
  z.strictObject({ sessions: z.int().nonnegative(), turns: z.int().nonnegative(), usage: Usage }),
)
type Spent = z.infer<typeof Spent>

const UsageReport = named(
  'UsageReport',
  z.strictObject({
    total: Spent,
    agents: z.record(z.string(), Spent),
    days: z
      .record(z.iso.date(), Spent)
      .describe('by the day on which a session started or a turn ended, in UTC'),
  }),
)

/** The usage that agents reported, including that of deleted sessions. */
export function usageEndpoint(deps: GatewayDeps): Endpoint {
  return endpoint({
    method: 'GET',
    url: '/v1/usage',
    summary: "Get the usage of this token's sessions, by agent and by day",
    answer: UsageReport,
    async run({ principal }) {
      const total = nothing()
      const agents = new Map<string, Spent>()
      const days = new Map<string, Spent>()
      for (const spent of await deps.sessions.spent(principal)) {
        add(total, spent)
        add(placeIn(agents, spent.agent), spent)
        add(placeIn(days, spent.day), spent)
      }
      return { total, agents: Object.fromEntries(agents), days: Object.fromEntries(days) }
    },
  })
}

const nothing = (): Spent => ({ sessions: 0, turns: 0, usage: {} })

function placeIn(totals: Map<string, Spent>, name: string): Spent {
  const total = totals.get(name) ?? nothing()
  totals.set(name, total)
  return total
}

function add(sum: Spent, { sessions, turns, usage }: Spent): void {
  sum.sessions += sessions
  sum.turns += turns
  sum.usage = addUsage(sum.usage, usage)
}
