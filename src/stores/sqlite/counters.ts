import type { DatabaseSync } from 'node:sqlite'
import { checksum, matches } from '../checksum.ts'
import { integer, type Row } from '../row.ts'

/** The counters of a session that change without its record. */
const COUNTERS =
  'SELECT n, earliest, earliest_frame AS earliestFrame, queued, edge_sum AS counterSum FROM session WHERE n = ?'

function counterSum(row: Row): number {
  return checksum(['n', 'earliest', 'earliestFrame', 'queued'].map((column) => integer(row, column)))
}

export function areCountersIntact(row: Row): boolean {
  return matches(row.counterSum, () => counterSum(row))
}

/** Runs `work`, which may change the counters. Keeps a checksum that did not match before, to show the damage. */
export function changeCounters(db: DatabaseSync, n: number, work: () => void): void {
  const counters = db.prepare(COUNTERS)
  const before = counters.get(n)
  work()
  const after = counters.get(n)
  if (!before || !after || !areCountersIntact(before)) return
  db.prepare('UPDATE session SET edge_sum = ? WHERE n = ?').run(counterSum(after), n)
}
