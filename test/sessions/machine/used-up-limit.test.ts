import { expect, test } from 'vitest'
import { quotaText } from '../../../src/client/index.ts'
import { recordEvent } from '../../../src/sessions/machine/record.ts'
import { SAMPLES } from '../../model/samples.ts'
import { state as newState } from '../../stores/sqlite-parts.ts'

const completed = { ...SAMPLES['turn.completed'], outcome: 'completed' } as const
const quota = (resetsAt: number) => ({ type: 'limit.reported', kind: 'quota', resetsAt }) as const

test('the record names the limit that resets last, until a turn completes', () => {
  const state = newState('s')
  recordEvent(state, { type: 'limit.reported', kind: 'rate', usedPercent: 90, resetsAt: 5_000 }, 0)
  expect(state.limit).toBeUndefined()
  recordEvent(state, { ...quota(2_000), message: 'five_hour', account: 'plus' }, 0)
  recordEvent(state, quota(1_000), 0)
  expect(state.limit).toEqual({ resetsAt: 2_000, message: 'five_hour', account: 'plus' })
  recordEvent(state, { ...completed, outcome: 'failed' }, 0)
  expect(state.limit).toBeDefined()
  recordEvent(state, completed, 0)
  expect(state.limit).toBeUndefined()
})

test('a limit without a reset replaces one that has reset, and no other', () => {
  const state = newState('s')
  recordEvent(state, quota(2_000), 1_000)
  recordEvent(state, { type: 'limit.reported', kind: 'quota', message: 'weekly' }, 1_999)
  expect(state.limit).toEqual({ resetsAt: 2_000 })
  recordEvent(state, { type: 'limit.reported', kind: 'quota', message: 'weekly' }, 2_000)
  expect(state.limit).toEqual({ message: 'weekly' })
})

test('a limit is shown until it resets', () => {
  const resetsAt = new Date(2026, 10, 19, 4, 10).getTime()
  expect(quotaText({ limit: { resetsAt } }, resetsAt - 60_000)).toBe('quota until 04:10')
  expect(quotaText({ limit: { resetsAt } }, resetsAt - 86_400_000)).toBe('quota until 2026-11-19 04:10')
  expect(quotaText({ limit: { resetsAt } }, resetsAt)).toBeUndefined()
  expect(quotaText({ limit: {} }, 0)).toBe('quota used up')
  expect(quotaText({}, 0)).toBeUndefined()
})
