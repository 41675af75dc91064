import { expect, test } from 'vitest'
import { pruneHourly } from '../../src/daemon/pruning.ts'
import { FakeTime } from '../sessions/fake-driver.ts'

test('retention runs at the start and every hour, despite earlier failures, until the server stops', async () => {
  const time = new FakeTime()
  const stop = new AbortController()
  const at: number[] = []
  const reported: unknown[] = []
  const broken = new Error('the disk is full')
  const sessions = {
    prune: async () => {
      at.push(time.now)
      if (at.length === 1) throw broken
    },
  }
  const parts = { timers: time, signal: stop.signal, report: (thrown: unknown) => void reported.push(thrown) }
  const pruning = pruneHourly(sessions, { receiptsMs: 1 }, parts)
  await time.pass(0)
  await time.pass(2 * 3_600_000)
  expect(at).toEqual([0, 3_600_000, 7_200_000])
  expect(reported).toEqual([broken])
  stop.abort()
  await pruning
  expect(at).toHaveLength(3)
})
