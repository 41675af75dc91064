import { parseArgs } from 'node:util'
import { cluster } from './cluster/cluster.ts'
import { FAULTS, type FaultName } from './cluster/faults.ts'

/**
 * `npm run faults -- cluster --minutes 5 [--seed N] [--sessions 6] [--lease SECONDS] [--only WORDS]`: three servers on one
 * PostgreSQL that are killed, suspended, cut off and restarted while clients use all of them. `--only` chooses the
 * faults whose names contain one of the words, which are separated by commas.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    seed: { type: 'string' },
    sessions: { type: 'string' },
    lease: { type: 'string' },
    only: { type: 'string' },
  },
})
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9))
const SHOWN = 100
const print = (text: string) => process.stdout.write(`${text}\n`)
const began = performance.now()
const tell = (text: string) =>
  print(`${String(Math.round((performance.now() - began) / 1000)).padStart(5)} s  ${text}`)

const names = Object.keys(FAULTS) as FaultName[]
const words = values.only?.split(',') ?? ['']
const { found, counts, faults, longestTakeoverMs } = await cluster({
  seed,
  sessions: Number(values.sessions ?? 6),
  leaseMs: Number(values.lease ?? 10) * 1_000,
  durationMs: Number(values.minutes ?? 5) * 60_000,
  faults: names.filter((name) => words.some((word) => name.includes(word))),
  tell,
})
for (const problem of found.all.slice(0, SHOWN)) print(`  ${problem}`)
for (const [name, count] of faults) print(`${name.padEnd(52)} ${count}`)
const told = Object.entries(counts).map(([name, count]) => `${name} ${count}`)
print(`${told.join(' ')} longest takeover ${longestTakeoverMs} ms after the lease, seed ${seed}`)
print(`violations ${found.all.length}: ${found.summary}`)
process.exitCode = found.all.length === 0 ? 0 : 1
