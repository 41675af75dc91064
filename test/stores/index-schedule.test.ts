import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { IndexSchedule } from '../../src/stores/search.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Commits every half second, for this long. */
function commit(schedule: IndexSchedule, forMs: number): void {
  for (let passed = 0; passed < forMs; passed += 500) {
    schedule.changed()
    vi.advanceTimersByTime(500)
  }
}

test('indexing starts when commits have paused', () => {
  const run = vi.fn()
  const schedule = new IndexSchedule(run)
  commit(schedule, 10_000)
  expect(run).not.toHaveBeenCalled()
  vi.advanceTimersByTime(500)
  expect(run).toHaveBeenCalledOnce()
  vi.advanceTimersByTime(60_000)
  expect(run).toHaveBeenCalledOnce()
})

test('commits that never pause are indexed once a minute', () => {
  const run = vi.fn()
  const schedule = new IndexSchedule(run)
  commit(schedule, 60_000)
  expect(run).toHaveBeenCalledTimes(1)
  commit(schedule, 60_500)
  expect(run).toHaveBeenCalledTimes(2)
})

test('nothing starts after the end', () => {
  const run = vi.fn()
  const schedule = new IndexSchedule(run)
  schedule.changed()
  schedule[Symbol.dispose]()
  vi.advanceTimersByTime(60_000)
  expect(run).not.toHaveBeenCalled()
})
