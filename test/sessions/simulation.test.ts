import { expect, test } from 'vitest'
import { simulate } from './simulation.ts'

const SEEDS = 400

test(`${SEEDS} random lives of a session leave whole logs`, { timeout: 120_000 }, async () => {
  const transitions = new Set<string>()
  const first = Math.floor(Math.random() * 1e9)
  for (let seed = first; seed < first + SEEDS; seed++) {
    const simulated = await simulate(seed)
    expect({ seed, problems: simulated.problems }).toEqual({ seed, problems: [] })
    for (const transition of simulated.transitions) transitions.add(transition)
  }
  // A simulation that goes nowhere would find nothing.
  expect(transitions.size).toBeGreaterThan(8)
})
