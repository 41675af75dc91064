import { parseArgs } from 'node:util'
import { nemesis } from './nemesis/nemesis.ts'

/**
 * `npm run faults -- nemesis --minutes 10 [--sessions 20] [--seed N]`: a real server whose agents, connections and own
 * process are killed at random. Prints every difference between what agents wrote and heard and what the logs have.
 */
const { values } = parseArgs({
  options: { minutes: { type: 'string' }, sessions: { type: 'string' }, seed: { type: 'string' } },
})
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9))
const minutes = Number(values.minutes ?? 10)
const sessions = Number(values.sessions ?? 20)
const SHOWN = 100
const print = (text: string) => process.stdout.write(`${text}\n`)
const began = performance.now()
const tell = (text: string) =>
  print(`${String(Math.round((performance.now() - began) / 1000)).padStart(5)} s  ${text}`)

const { found, counts, kills } = await nemesis({ seed, sessions, durationMs: minutes * 60_000, tell })
for (const problem of found.all.slice(0, SHOWN)) print(`  ${problem}`)
const told = (values: Record<string, number>) =>
  Object.entries(values)
    .map(([name, count]) => `${name} ${count}`)
    .join(' ')
print(`killed in: ${told(kills)}`)
print(`${told(counts)} seed ${seed}`)
print(`violations ${found.all.length}: ${found.summary}`)
process.exitCode = found.all.length === 0 ? 0 : 1
