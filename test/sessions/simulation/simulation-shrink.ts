import { STEPS, simulate } from './simulation.ts'
import type { Simulation } from './simulation-types.ts'

/** The same bad life with every step left out that it does not need; what then happens in it. */
export async function shrink(seed: number, simulation: Simulation = {}): Promise<string[]> {
  const without = new Set<number>()
  for (let step = STEPS; step > 0; step--) {
    without.add(step)
    const { problems } = await simulate(seed, { ...simulation, without })
    if (problems.length === 0) without.delete(step)
  }
  const { trace, problems } = await simulate(seed, { ...simulation, without })
  return [...trace, ...problems]
}
