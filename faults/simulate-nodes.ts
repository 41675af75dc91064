import { parseArgs } from 'node:util'
import { simulateNodes } from '../test/nodes/simulation.ts'
import { NODE_PLANTS } from '../test/nodes/simulation-store.ts'

/**
 * `npm run faults -- simulate-nodes --seeds 2000 [--first N] [--plant NAME]`: random lives of three servers on one store, whose
 * clients send each command to any of them. Prints the seed and the problems of bad ones. A planted fault must be found.
 */
const { values } = parseArgs({
  options: { seeds: { type: 'string' }, first: { type: 'string' }, plant: { type: 'string' } },
})
const seeds = Number(values.seeds ?? 2_000)
const first = Number(values.first ?? 1)
const plant = NODE_PLANTS.find((name) => name === values.plant)
if (values.plant !== undefined && plant === undefined) throw new Error(`plants: ${NODE_PLANTS.join(', ')}`)

/** Stops after this many bad lives. */
const SHOWN = 3
let bad = 0

for (let seed = first; seed < first + seeds && bad < SHOWN; seed++) {
  const problems = await simulateNodes(seed, plant)
  if (problems.length === 0) continue
  bad++
  print(`seed ${seed}`, ...problems.map((problem) => `  ${problem}`))
}
print(`seeds ${seeds} bad ${bad} first ${first}`)
process.exit(bad === 0 ? 0 : 1)

function print(...lines: string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`)
}
