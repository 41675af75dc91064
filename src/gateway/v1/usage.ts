import { z } from 'zod'
import { addUsage, Usage } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { named } from '../http/components.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'

const UsageTotals = named(
  'UsageTotals',
  z.strictObject({ sessions: z.int().nonnegative(), turns: z.int().nonnegative(), usage: Usage }),
)
type UsageTotals = z.infer<typeof UsageTotals>

const UsageReport = named(
  'UsageReport',
  z.strictObject({
    total: UsageTotals,
    agents: z.record(z.string(), UsageTotals),
    days: z
      .record(z.iso.date(), UsageTotals)
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
      const agents = new Map<string, UsageTotals>()
      const days = new Map<string, UsageTotals>()
      for (const usage of await deps.sessions.dailyUsage(principal)) {
        add(total, usage)
        add(totalsOf(agents, usage.agent), usage)
        add(totalsOf(days, usage.day), usage)
      }
      return { total, agents: Object.fromEntries(agents), days: Object.fromEntries(days) }
    },
  })
}

const nothing = (): UsageTotals => ({ sessions: 0, turns: 0, usage: {} })

function totalsOf(totals: Map<string, UsageTotals>, name: string): UsageTotals {
  const total = totals.get(name) ?? nothing()
  totals.set(name, total)
  return total
}

function add(sum: UsageTotals, { sessions, turns, usage }: UsageTotals): void {
  sum.sessions += sessions
  sum.turns += turns
  sum.usage = addUsage(sum.usage, usage)
}
