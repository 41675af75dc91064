import type { Entry, SessionRecord } from '../../../src/model/index.ts'
import { recordEvent } from '../../../src/sessions/machine/record.ts'
import type { SessionState } from '../../../src/stores/store.ts'
import { state } from '../../stores/sqlite-parts.ts'

/** The parts of a record that its log decides alone. */
function decided({ status, openTurn, turns, requests, queue }: SessionState): string {
  const requestIds = requests.map(({ requestId }) => requestId)
  return JSON.stringify({ status, openTurn, turns, requestIds, queued: queue.map(({ turn }) => turn) })
}

/** Compares a record with the log that it is folded from. */
export function recordProblems(log: readonly Entry[], record: SessionRecord | undefined): string[] {
  if (!record) return []
  const folded = state(record.id)
  for (const { event, at, native } of log) recordEvent(folded, event, at, native)
  const [found, expected] = [decided(record), decided(folded)]
  return found === expected ? [] : [`the record of ${record.id} is ${found}, and its log says ${expected}`]
}
