import { parseArgs } from 'node:util'
import { simulate } from '../test/sessions/simulation.ts'

/** `npm run simulate -- --seeds 20000 [--first N]`: random lives of sessions; the seed of a bad one is printed. */
const { values } = parseArgs({ options: { seeds: { type: 'string' }, first: { type: 'string' } } })
const seeds = Number(values.seeds ?? 20_000)
const first = Number(values.first ?? 1)
const transitions = new Map<string, number>()
let bad = 0

for (let seed = first; seed < first + seeds; seed++) {
  const simulated = await simulate(seed)
  for (const transition of simulated.transitions) {
    transitions.set(transition, (transitions.get(transition) ?? 0) + 1)
  }
  if (simulated.problems.length === 0) continue
  bad++
  process.stdout.write(`seed ${seed}: ${simulated.problems.join('; ')}\n`)
}

const reached = [...transitions].toSorted(([, a], [, b]) => b - a)
for (const [transition, count] of reached)
  process.stdout.write(`${String(count).padStart(8)}  ${transition}\n`)
process.stdout.write(`seeds ${seeds} bad ${bad} transitions ${transitions.size} first ${first}\n`)
process.exitCode = bad === 0 ? 0 : 1
