import { expect, test } from 'vitest'
import { crash } from '../../faults/crash/crash.ts'
import { POINTS } from '../../faults/crash/plan.ts'

test('a server that is killed at every failpoint loses, repeats and leaves behind nothing', {
  timeout: 300_000,
}, async () => {
  const seed = Math.floor(Math.random() * 1e9)
  // Every place once, and two moments of chance.
  const crashed = await crash(seed, POINTS.length + 2, () => undefined)
  const { found, missed } = crashed
  expect({ seed, found: found.all, missed }).toEqual({ seed, found: [], missed: [] })
  expect([...crashed.hits.keys()].sort()).toEqual(['anywhere', ...POINTS].sort())
  expect(crashed.entries).toBeGreaterThan(100)
})
