import { readdirSync, readFileSync } from 'node:fs'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import { entries, frames } from './sqlite-parts.ts'

/** Commits entries one by one in a process of its own, because the counts are those of a process. Prints the counts. */
const [, , directory = '', commits = '1'] = process.argv
const store = await sqliteStore({ directory, search: false, durability: 'process' })
await commit(1)
const before = counts()
await commit(2)
const after = counts()
await store[Symbol.asyncDispose]()
const each = Object.entries(after).map(([name, count]) => [
  name,
  (count - (before[name] ?? 0)) / Number(commits),
])
process.stdout.write(JSON.stringify(Object.fromEntries(each)))

async function commit(round: number): Promise<void> {
  const last = round * Number(commits)
  for (let seq = last - Number(commits) + 1; seq <= last; seq++)
    await store.append('s', { entries: entries('s', seq, seq), journal: frames('s', seq, seq) })
}

/** Calls of this process that read and write, and how often its threads began to wait. */
function counts(): Record<string, number> {
  const io = readFileSync('/proc/self/io', 'utf8')
  const waits = readdirSync('/proc/self/task').map((task) => {
    const status = readFileSync(`/proc/self/task/${task}/status`, 'utf8')
    return numberIn(status, 'voluntary_ctxt_switches')
  })
  return {
    reads: numberIn(io, 'syscr'),
    writes: numberIn(io, 'syscw'),
    waits: waits.reduce((sum, count) => sum + count, 0),
  }
}

function numberIn(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1])
}
