import { expect, test } from 'vitest'
import { crash } from '../../faults/crash/crash.ts'
import { DAMAGES } from '../../faults/crash/damage.ts'
import { POINTS } from '../../faults/crash/plan.ts'
import { runs } from '../long.ts'

/** Every place once, and two moments of chance. */
const ALL = POINTS.length + 2
const ROUNDS = runs(1, ALL)

test('only the agents lose their turns that are killed, or whose output is damaged, while no server runs', {
  timeout: 300_000,
}, async () => {
  const seed = Math.floor(Math.random() * 1e9)
  const { found, damages } = await crash(seed, runs(3, 20), () => undefined, 'sqlite', DAMAGES)
  expect({ seed, found: found.all }).toEqual({ seed, found: [] })
  expect(damages.size).toBeGreaterThan(0)
})

test('a server that is killed at its failpoints loses, repeats and leaves behind nothing', {
  timeout: 300_000,
}, async () => {
  const seed = Math.floor(Math.random() * 1e9)
  const crashed = await crash(seed, ROUNDS, () => undefined)
  const { found, missed } = crashed
  expect({ seed, found: found.all, missed }).toEqual({ seed, found: [], missed: [] })
  if (ROUNDS === ALL) expect([...crashed.hits.keys()].sort()).toEqual(['anywhere', ...POINTS].sort())
  expect(crashed.entries).toBeGreaterThan(10 * ROUNDS)
})
