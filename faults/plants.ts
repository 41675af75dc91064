import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { copySources } from './plants/copy.ts'
import { CHECKERS, type Checker, PLANTS, type Plant } from './plants/plants.ts'

/**
 * `npm run faults -- plants [--only NAME] [--checker NAME]`: plants each fault in a copy of the sources, and prints which
 * checker finds it. The sources without a fault must pass every checker.
 */
const { values } = parseArgs({ options: { only: { type: 'string' }, checker: { type: 'string' } } })
const COMMANDS: Record<Checker, readonly string[]> = {
  fsync: ['faults/fsync.ts'],
  simulate: ['faults/simulate.ts', '--seeds', '400'],
  crash: ['faults/crash.ts', '--rounds', '11', '--seed', '7'],
  // An agent whose output was replaced cannot be continued, so it must be ended.
  damage: ['faults/crash.ts', '--rounds', '4', '--seed', '7', '--damage', 'symlink'],
  cluster: [
    'faults/cluster.ts',
    '--minutes',
    '2',
    '--seed',
    '7',
    '--lease',
    '5',
    '--only',
    'longer,delayed,partition',
  ],
}
const TIMEOUT_MS = 300_000
const checkers = CHECKERS.filter((name) => values.checker === undefined || name === values.checker)
const plants = PLANTS.filter(({ name }) => values.only === undefined || name === values.only)
const print = (text: string) => process.stdout.write(`${text}\n`)

let found = 0
for (const plant of plants) {
  const began = performance.now()
  const by = finderOf(plant)
  if (by) found++
  const seconds = `${Math.round((performance.now() - began) / 1000)} s`
  print(`${by ? `found by ${by.checker}` : 'MISSED'}`.padEnd(18) + seconds.padEnd(7) + plant.name)
  if (by) print(`  ${by.line}`)
}
print(`plants ${plants.length} found ${found}`)
process.exitCode = found === plants.length ? 0 : 1

function finderOf(plant: Plant): { checker: Checker; line: string } | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'plant-'))
  try {
    copySources(directory, plant)
    for (const checker of checkers.filter((name) => name === (plant.by ?? name))) {
      const { stdout, status } = run(directory, checker)
      const line = stdout.split('\n').find((text) => plant.shows.test(text))
      if (status !== 0 && line !== undefined) return { checker, line: line.trim().slice(0, 160) }
    }
    return undefined
  } finally {
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  }
}

function run(cwd: string, checker: Checker): { stdout: string; status: number | null } {
  const { stdout, status } = spawnSync(process.execPath, COMMANDS[checker], {
    cwd,
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
  })
  return { stdout, status }
}
