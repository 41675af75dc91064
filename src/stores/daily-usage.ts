import type { Usage } from '../model/index.ts'
import { addUsage } from '../model/usage-sum.ts'
import { integer, type Row, text } from './row.ts'
import type { Charge, DailyUsage } from './store.ts'

/** The columns of a usage, in the order of the table. */
export const COUNTS = [
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'reasoning',
  'total',
  'costUsd',
] as const satisfies (keyof Usage)[]

/** The columns after `turns`; a sum with a partial part is partial. */
export const COLUMNS = [...COUNTS, 'partial'] as const

export function chargeOf({
  principal,
  agent,
  model = '',
  at,
  sessions,
  turns,
  usage,
}: Charge): (string | number | null)[] {
  const counts = COUNTS.map((name) => usage[name] ?? null)
  return [principal, agent, model, dayOf(at), sessions, turns, ...counts, usage.partial ? 1 : null]
}

// Money is summed in binary floating point; ten decimals are far below a cent and hide its noise.
const tidy = (n: number) => Math.round(n * 1e10) / 1e10

export function toDailyUsage(row: Row): DailyUsage {
  const usage: Usage = {}
  for (const name of COUNTS) {
    const count = row[name]
    if (typeof count === 'number') usage[name] = tidy(count)
  }
  if (row.partial === 1) usage.partial = true
  const model = text(row, 'model')
  return {
    principal: text(row, 'principal'),
    agent: text(row, 'agent'),
    ...(model !== '' && { model }),
    day: text(row, 'day'),
    sessions: integer(row, 'sessions'),
    turns: integer(row, 'turns'),
    usage,
  }
}

export function addDailyUsage(a: DailyUsage, b: DailyUsage): DailyUsage {
  return {
    ...a,
    sessions: a.sessions + b.sessions,
    turns: a.turns + b.turns,
    usage: addUsage(a.usage, b.usage),
  }
}

/** The day of a time in milliseconds since 1970, in UTC. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}
