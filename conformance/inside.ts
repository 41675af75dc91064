import { readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { LaunchKind } from '../src/model/index.ts'
import { type Cell, runCell } from './cell.ts'
import { cellsOf } from './plan.ts'
import { type CellResult, nameOf, type Warmth } from './results.ts'
import { changedFiles, filesBelow } from './traces.ts'
import { measureWarmth } from './warmth.ts'

/** The part of a run behind the fence: reads its orders from a file and writes the results beside it. */
const Orders = z.strictObject({
  /** The commands of the programs that are installed, by id. */
  commands: z.record(z.string(), z.string()),
  programs: z.array(z.string()),
  scenarios: z.array(z.string()),
  launches: z.array(LaunchKind),
  /** Of random moments. */
  seed: z.int(),
  ci: z.boolean(),
  versions: z.record(z.string(), z.string()),
  /** Measure the time to the first text as well. */
  warmth: z.boolean(),
  atOnce: z.int().positive(),
  keep: z.boolean(),
  covered: z.array(z.string()),
  kept: z.array(z.string()),
  folder: z.string(),
})
export type Orders = z.infer<typeof Orders>

const [path = ''] = process.argv.slice(2)
const orders = Orders.parse(JSON.parse(readFileSync(path, 'utf8')))

const cells = cellsOf(orders)
const results: CellResult[] = []
const open = cells.entries()
let files = filesBelow(orders.covered, orders.kept)

/** All workers take from one list. */
async function worker(): Promise<void> {
  for (const [index, cell] of open) results.push(await timed(cell, index))
}

async function timed(cell: Cell, index: number): Promise<CellResult> {
  const before = performance.now()
  const result = withStrays(await attempt(cell, join(orders.folder, `c${index}`)))
  const seconds = ((performance.now() - before) / 1000).toFixed(1)
  const { state, reason, seen } = result
  const count = `${String(results.length + 1).padStart(3)}/${cells.length}`
  const told = reason === undefined ? '' : `  ${seen ?? reason}`
  console.log(`${count}  ${state.padEnd(7)}  ${nameOf(result).padEnd(40)} ${seconds.padStart(6)} s${told}`)
  return result
}

async function attempt(cell: Cell, folder: string): Promise<CellResult> {
  const { program, launch, scenario } = cell
  const command = orders.commands[program.id]
  const named = { program: program.id, version: program.version, launch, scenario: scenario.id }
  if (command === undefined) return { ...named, state: 'not run', reason: 'it could not be installed' }
  const result = await runCell(cell, command, folder, orders.seed)
  if (!orders.keep && result.state !== 'red') await rm(folder, { recursive: true, force: true })
  return result
}

/** No limit excuses a file outside of the home and the workspace. */
function withStrays(result: CellResult): CellResult {
  const now = filesBelow(orders.covered, orders.kept)
  const strays = changedFiles(files, now)
  files = now
  if (strays.length === 0) return result
  return { ...result, state: 'red', reason: `wrote outside its home: ${strays.slice(0, 3).join(', ')}` }
}

await Promise.all(Array.from({ length: orders.atOnce }, worker))

const warmth: Warmth[] = []
if (orders.warmth) {
  for (const program of new Set(cells.map((cell) => cell.program))) {
    const command = orders.commands[program.id]
    if (command === undefined) continue
    const measured = await measureWarmth(program, command, join(orders.folder, `w-${program.id}`))
    if (measured === undefined) continue
    warmth.push(measured)
    const { cold, warm } = measured
    console.log(`         ${program.id}: first text after ${cold.median} ms cold and ${warm.median} ms warm`)
  }
}
writeFileSync(`${path}.results`, JSON.stringify({ cells: results, warmth }))
