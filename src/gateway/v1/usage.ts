import * as z from 'zod'
import { addUsage, MainstemError, Usage } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { isOperator } from '../http/auth.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { named } from '../http/openapi/components.ts'
import { Flag } from '../http/query.ts'

const counts = { sessions: z.int().nonnegative(), turns: z.int().nonnegative(), usage: Usage }

const UsageTotalsJson = named('UsageTotals', z.strictObject(counts))
type UsageTotalsJson = z.infer<typeof UsageTotalsJson>

const DailyUsageJson = named(
  'DailyUsage',
  z.strictObject({
    day: z.iso.date(),
    principal: z.string(),
    agent: z.string(),
    model: z.string().optional().describe('absent if the agent named none'),
    ...counts,
  }),
)

const groups = z.record(z.string(), UsageTotalsJson)

const UsageReport = named(
  'UsageReport',
  z.strictObject({
    total: UsageTotalsJson,
    agents: groups,
    models: groups.describe('by the model in use when a turn ended; `unknown` if the agent named none'),
    principals: groups,
    days: z
      .record(z.iso.date(), UsageTotalsJson)
      .describe('by the day on which a session started or a turn ended, in UTC'),
    rows: z.array(DailyUsageJson).describe('one for each day, principal, agent and model'),
  }),
)

const UsageQuery = z.strictObject({
  from: z.iso.date().optional().describe('the first day, in UTC'),
  to: z.iso.date().optional().describe('the last day, in UTC'),
  all: Flag.optional().describe(`1: the usage of all principals, for operators only`),
})

const UNKNOWN = 'unknown'

/** The usage that agents reported, including that of deleted sessions. */
export function usageEndpoint(deps: GatewayDeps): Endpoint {
  return endpoint({
    method: 'GET',
    url: '/v1/usage',
    summary: "Get the usage of this token's sessions, by agent, by model and by day",
    query: UsageQuery,
    answer: UsageReport,
    async run({ principal, roles, query: { from = '', to, all = false } }) {
      if (all && !isOperator({ roles })) {
        throw new MainstemError('forbidden', 'only an operator can read the usage of all principals')
      }
      const [total, agents, models, principals, days] = [nothing(), group(), group(), group(), group()]
      const usage = await deps.sessions.dailyUsage(all ? undefined : principal)
      const rows = usage.filter(({ day }) => day >= from && (to === undefined || day <= to))
      for (const row of rows) {
        add(total, row)
        add(totalsOf(agents, row.agent), row)
        add(totalsOf(models, row.model ?? UNKNOWN), row)
        add(totalsOf(principals, row.principal), row)
        add(totalsOf(days, row.day), row)
      }
      return {
        total,
        agents: Object.fromEntries(agents),
        models: Object.fromEntries(models),
        principals: Object.fromEntries(principals),
        days: Object.fromEntries(days),
        rows: rows.sort((a, b) => a.day.localeCompare(b.day)),
      }
    },
  })
}

const nothing = (): UsageTotalsJson => ({ sessions: 0, turns: 0, usage: {} })
const group = () => new Map<string, UsageTotalsJson>()

function totalsOf(totals: Map<string, UsageTotalsJson>, name: string): UsageTotalsJson {
  const total = totals.get(name) ?? nothing()
  totals.set(name, total)
  return total
}

function add(sum: UsageTotalsJson, { sessions, turns, usage }: UsageTotalsJson): void {
  sum.sessions += sessions
  sum.turns += turns
  sum.usage = addUsage(sum.usage, usage)
}
