import { z } from 'zod'
import { addUsage, type SessionRecord, Usage } from '../model/index.ts'
import { named } from './components.ts'
import { type Endpoint, endpoint } from './endpoint.ts'
import { allRecords } from './owned.ts'
import type { GatewayParts } from './parts.ts'

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
    days: z.record(z.iso.date(), Spent).describe('by the day on which a session began, in UTC'),
  }),
)

/** What was spent, as far as agents tell it and sessions are kept. */
export function usageEndpoint(parts: GatewayParts): Endpoint {
  return endpoint({
    method: 'GET',
    url: '/v1/usage',
    summary: 'What the sessions of this token used, by agent and by day',
    answer: UsageReport,
    async run({ principal }) {
      const total = nothing()
      const agents = new Map<string, Spent>()
      const days = new Map<string, Spent>()
      for await (const record of allRecords(parts, { principal })) {
        add(total, record)
        add(placeIn(agents, record.agent), record)
        add(placeIn(days, new Date(record.createdAt).toISOString().slice(0, 10)), record)
      }
      return { total, agents: Object.fromEntries(agents), days: Object.fromEntries(days) }
    },
  })
}

const nothing = (): Spent => ({ sessions: 0, turns: 0, usage: {} })

function placeIn(places: Map<string, Spent>, name: string): Spent {
  const place = places.get(name) ?? nothing()
  places.set(name, place)
  return place
}

function add(spent: Spent, { turns, usage }: SessionRecord): void {
  spent.sessions++
  spent.turns += turns
  spent.usage = addUsage(spent.usage, usage)
}
