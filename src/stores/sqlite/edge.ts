import type { DatabaseSync } from 'node:sqlite'
import { checksum, matches } from './checksum.ts'
import { integer, type Row } from './row.ts'

/** The numbers of a session that change without its record. */
const EDGE =
  'SELECT n, earliest, earliest_frame AS earliestFrame, queued, edge_sum AS edgeSum FROM session WHERE n = ?'

export const newEdgeSum = (n: number) => checksum([n, 1, 1, 0])

export function edgeSum(row: Row): number {
  return checksum(['n', 'earliest', 'earliestFrame', 'queued'].map((column) => integer(row, column)))
}

export function isEdgeIntact(row: Row): boolean {
  return matches(row.edgeSum, () => edgeSum(row))
}

/** Does work that may change these numbers. A checksum that did not match before stays, so that the damage stays visible. */
export function changeEdge(db: DatabaseSync, n: number, work: () => void): void {
  const edge = db.prepare(EDGE)
  const before = edge.get(n)
  work()
  const after = edge.get(n)
  if (!before || !after || !isEdgeIntact(before)) return
  db.prepare('UPDATE session SET edge_sum = ? WHERE n = ?').run(edgeSum(after), n)
}
