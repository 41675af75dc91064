import { parseArgs } from 'node:util'
import { crash } from './crash/crash.ts'
import { POINTS } from './crash/plan.ts'

/** `npm run faults -- crash --rounds 50 [--seed N] [--store postgres]`: a server that is killed over and over, and loses nothing. */
const { values } = parseArgs({
  options: { seed: { type: 'string' }, rounds: { type: 'string' }, store: { type: 'string' } },
})
const store = values.store === 'postgres' ? 'postgres' : 'sqlite'
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9))
const rounds = Number(values.rounds ?? 50)
const print = (text: string) => process.stdout.write(`${text}\n`)

const crashed = await crash(seed, rounds, (round) => process.stdout.isTTY && print(round), store)
const { found, missed, hits, entries } = crashed
for (const place of [...POINTS, 'anywhere', 'database'] as const)
  print(`${place.padEnd(28)} ${hits.get(place) ?? 0}`)
print(`entries in the logs          ${entries}`)
const unreached = missed.filter((point) => !hits.has(point))
for (const problem of found.all.slice(0, 50)) print(`  ${problem}`)
for (const point of unreached) print(`  never reached: ${point}`)
if (found.all.length + unreached.length > 0) process.exitCode = 1
print(`rounds ${rounds} ${found.summary} seed ${seed}`)
