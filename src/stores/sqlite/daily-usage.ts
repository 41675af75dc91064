import type { Usage } from '../../model/index.ts'
import { dayOf } from '../day-of.ts'
import type { Charge, DailyUsage } from '../store.ts'
import { integer, type Row, text } from './row.ts'

/** The columns of a usage, in the order of the table. */
const COUNTS = [
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'reasoning',
  'total',
  'costUsd',
] as const satisfies (keyof Usage)[]

/** The columns after `turns`; a sum with a partial part is partial. */
const COLUMNS = [...COUNTS, 'partial'] as const

/** A count that neither has stays unknown. */
const added = COUNTS.map(
  (name) => `${name} = coalesce(${name} + excluded.${name}, ${name}, excluded.${name})`,
)

export const CHARGE = `INSERT INTO spent VALUES (?, ?, ?, ?, ?, ${COLUMNS.map(() => '?').join(', ')})
  ON CONFLICT DO UPDATE SET sessions = sessions + excluded.sessions, turns = turns + excluded.turns,
  ${added.join(', ')}, partial = coalesce(partial, excluded.partial)`

export function chargeOf({
  principal,
  agent,
  at,
  sessions,
  turns,
  usage,
}: Charge): (string | number | null)[] {
  const counts = COUNTS.map((name) => usage[name] ?? null)
  return [principal, agent, dayOf(at), sessions, turns, ...counts, usage.partial ? 1 : null]
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
  return {
    principal: text(row, 'principal'),
    agent: text(row, 'agent'),
    day: text(row, 'day'),
    sessions: integer(row, 'sessions'),
    turns: integer(row, 'turns'),
    usage,
  }
}
