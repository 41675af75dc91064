import { parseArgs } from 'node:util'
import { crash } from './crash/crash.ts'
import { DAMAGES } from './crash/damage.ts'
import { POINTS } from './crash/plan.ts'

/**
 * `npm run faults -- crash --rounds 50 [--seed N] [--store postgres] [--damage agent,guard|all]`: a server that is killed
 * over and over, and loses nothing. With `--damage`, something also happens to an agent or to its output before each
 * start: at most the turn of that agent is lost, with this reason.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    rounds: { type: 'string' },
    store: { type: 'string' },
    damage: { type: 'string', default: '' },
  },
})
const store = values.store === 'postgres' ? 'postgres' : 'sqlite'
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9))
const rounds = Number(values.rounds ?? 50)
const print = (text: string) => process.stdout.write(`${text}\n`)

const asked = values.damage.split(',')
const kinds = DAMAGES.filter((kind) => asked.includes(kind) || asked.includes('all'))
const crashed = await crash(seed, rounds, (round) => process.stdout.isTTY && print(round), store, kinds)
const { found, missed, hits, entries } = crashed
for (const place of [...POINTS, 'anywhere', 'database'] as const)
  print(`${place.padEnd(28)} ${hits.get(place) ?? 0}`)
for (const kind of kinds) print(`damage ${kind.padEnd(21)} ${crashed.damages.get(kind) ?? 0}`)
print(`entries in the logs          ${entries}`)
const unreached = missed.filter((point) => !hits.has(point))
for (const problem of found.all.slice(0, 50)) print(`  ${problem}`)
for (const point of unreached) print(`  never reached: ${point}`)
if (found.all.length + unreached.length > 0) process.exitCode = 1
print(`rounds ${rounds} ${found.summary} seed ${seed}`)
