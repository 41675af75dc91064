import type { Usage } from '../../model/index.ts'
import { dayOf } from '../day-of.ts'
import type { Charge, Spent } from '../store.ts'
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

/** A count that neither has stays unknown. */
const added = COUNTS.map(
  (name) => `${name} = coalesce(${name} + excluded.${name}, ${name}, excluded.${name})`,
)

export const CHARGE = `INSERT INTO spent VALUES (?, ?, ?, ?, ?, ${COUNTS.map(() => '?').join(', ')})
  ON CONFLICT DO UPDATE SET sessions = sessions + excluded.sessions, turns = turns + excluded.turns,
  ${added.join(', ')}`

export function chargeOf({
  principal,
  agent,
  at,
  sessions,
  turns,
  usage,
}: Charge): (string | number | null)[] {
  return [principal, agent, dayOf(at), sessions, turns, ...COUNTS.map((name) => usage[name] ?? null)]
}

// Money is summed in binary floating point; ten decimals are far below a cent and hide its noise.
const tidy = (n: number) => Math.round(n * 1e10) / 1e10

export function toSpent(row: Row): Spent {
  const usage: Usage = {}
  for (const name of COUNTS) {
    const count = row[name]
    if (typeof count === 'number') usage[name] = tidy(count)
  }
  return {
    principal: text(row, 'principal'),
    agent: text(row, 'agent'),
    day: text(row, 'day'),
    sessions: integer(row, 'sessions'),
    turns: integer(row, 'turns'),
    usage,
  }
}
