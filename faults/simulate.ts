import { parseArgs } from 'node:util'
import { simulate } from '../test/sessions/simulation/simulation.ts'
import { shrink } from '../test/sessions/simulation/simulation-shrink.ts'
import { PLANTS } from '../test/sessions/simulation/simulation-store.ts'

/**
 * `npm run faults -- simulate --seeds 20000 [--first N] [--plant NAME]`: random lives of sessions. Of a bad one the seed and
 * the shortest way to it are printed. A planted fault has to be found.
 */
const { values } = parseArgs({
  options: { seeds: { type: 'string' }, first: { type: 'string' }, plant: { type: 'string' } },
})
const seeds = Number(values.seeds ?? 20_000)
const first = Number(values.first ?? 1)
const plant = PLANTS.find((name) => name === values.plant)
if (values.plant !== undefined && plant === undefined) throw new Error(`plants: ${PLANTS.join(', ')}`)

/** It stops after as many bad lives: more teach nothing new. */
const SHOWN = 3
const states = new Map<string, number>()
const transitions = new Map<string, number>()
let bad = 0

for (let seed = first; seed < first + seeds && bad < SHOWN; seed++) {
  const simulated = await simulate(seed, { plant })
  count(states, simulated.states)
  count(transitions, simulated.transitions)
  if (simulated.problems.length === 0) continue
  bad++
  print(`seed ${seed}`, ...(await shrink(seed, { plant })).map((line) => `  ${line}`))
}

for (const reached of [states, transitions]) {
  for (const [name, times] of [...reached].toSorted(([, a], [, b]) => b - a)) {
    print(`${String(times).padStart(8)}  ${name}`)
  }
}
print(`seeds ${seeds} bad ${bad} states ${states.size} transitions ${transitions.size} first ${first}`)
process.exitCode = bad === 0 ? 0 : 1

function count(counts: Map<string, number>, names: Iterable<string>): void {
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
}

function print(...lines: string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`)
}
