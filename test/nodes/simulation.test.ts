import { expect, test, vi } from 'vitest'
import { runs } from '../long.ts'
import { simulateNodes } from './simulation.ts'
import { NODE_PLANTS } from './simulation-store.ts'

vi.setConfig({ testTimeout: 120_000 })

const SEEDS = runs(2, 15)
/** A planted fault shows itself long before. */
const PLANTED_SEEDS = 100

test(`${SEEDS} random lives of three nodes leave whole logs, one effect of each command, and one agent at a time`, async () => {
  const first = Math.floor(Math.random() * 1e9)
  for (let seed = first; seed < first + SEEDS; seed++) {
    expect({ seed, problems: await simulateNodes(seed) }).toEqual({ seed, problems: [] })
  }
})

test.each(NODE_PLANTS)('the planted fault %s is found', async (plant) => {
  for (let seed = 1; seed <= PLANTED_SEEDS; seed++) {
    if ((await simulateNodes(seed, plant)).length > 0) return
  }
  throw new Error(`${plant} was not found in ${PLANTED_SEEDS} lives`)
})
