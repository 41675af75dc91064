import { expect, test } from 'vitest'
import { upcastEntry } from '../../src/stores/log-store/log-reads.ts'
import { UPCASTS } from '../../src/stores/upcast.ts'
import { entry, sessionId } from './sqlite-parts.ts'

test.each<[unknown, number | undefined]>([
  [1_800_000_000, 1_800_000_000_000],
  [1_800_000_000_000, 1_800_000_000_000],
  ['2027-01-15T08:00:00Z', 1_800_000_000_000],
  ['soon', undefined],
])('the reset %o of a limit of version 2 is milliseconds', (resetsAt, ms) => {
  const event = { type: 'limit.reported', kind: 'rate', message: 'five_hour' }
  const old = { ...entry(sessionId(1), 1), event: { ...event, resetsAt } }
  const expected = { ...event, ...(ms !== undefined && { resetsAt: ms }) }
  expect(upcastEntry(old, 2, UPCASTS).event).toEqual(expected)
})
