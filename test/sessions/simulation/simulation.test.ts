import { expect, test, vi } from 'vitest'
import { runs } from '../../long.ts'
import { simulate } from './simulation.ts'
import { shrink } from './simulation-shrink.ts'
import { PLANTS } from './simulation-store.ts'

vi.setConfig({ testTimeout: 120_000 })

const SEEDS = runs(150, 400)
/** A planted fault shows itself long before. */
const PLANTED_SEEDS = 100

test(`${SEEDS} random lives of a session leave whole logs and readers that saw all of them`, async () => {
  const transitions = new Set<string>()
  const first = Math.floor(Math.random() * 1e9)
  for (let seed = first; seed < first + SEEDS; seed++) {
    const simulated = await simulate(seed)
    expect({ seed, problems: simulated.problems }).toEqual({ seed, problems: [] })
    for (const transition of simulated.transitions) transitions.add(transition)
  }
  // A simulation that goes nowhere would find nothing.
  expect(transitions.size).toBeGreaterThan(20)
})

/** The lives without a fault that were found to be sound: the same for every plant. */
const sound = new Set<number>()

test.each(PLANTS)(
  'the planted fault %s is found, and printed as a short sequence of steps',
  async (plant) => {
    let found: number | undefined
    for (let seed = 1; seed <= PLANTED_SEEDS && found === undefined; seed++) {
      const planted = await simulate(seed, { plant })
      if (planted.problems.length > 0) found = seed
      if (sound.has(seed)) continue
      expect((await simulate(seed)).problems).toEqual([])
      sound.add(seed)
    }
    if (found === undefined) throw new Error(`${plant} was not found in ${PLANTED_SEEDS} lives`)
    const story = await shrink(found, { plant })
    const whole = await simulate(found, { plant })
    expect(story.length).toBeLessThanOrEqual(whole.trace.length + whole.problems.length)
    expect(story.at(-1)).toMatch(/reader|turn|end/)
  },
)
