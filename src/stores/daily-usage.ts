import type { Usage } from '../model/index.ts'
import { addUsage } from '../model/usage-sum.ts'
import { integer, type Row, text } from './row.ts'
import type { Charge, DailyUsage } from './store.ts'
import { toTableRow } from './table-row.ts'
import type { TableRow } from './tables.ts'

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

/** Adds a row to the one of its account, `s`. A count that is unknown on both sides stays unknown. */
export const ADD_CHARGE = `ON CONFLICT (principal, agent, model, day) DO UPDATE SET
  sessions = s.sessions + excluded.sessions, turns = s.turns + excluded.turns,
  ${COUNTS.map((name) => `"${name}" = coalesce(s."${name}" + excluded."${name}", s."${name}", excluded."${name}")`).join(', ')},
  partial = coalesce(s.partial, excluded.partial)`

export function chargeRow({ at, usage, model = '', ...account }: Charge): TableRow<'spent'> {
  const counts = Object.fromEntries(COUNTS.map((name) => [name, usage[name] ?? null]))
  const row = { ...account, model, day: dayOf(at), ...counts, partial: usage.partial ? 1 : null }
  return toTableRow('spent', row)
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
