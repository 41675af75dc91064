import { readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { type Cell, runCell } from './cell.ts'
import { cellsOf } from './plan.ts'
import { type CellResult, nameOf, type Warmth } from './results.ts'
import { changedFiles, filesBelow } from './traces.ts'
import { coldOverWarm } from './warmth.ts'

/** The part of a run that happens behind the fence: it is told what to do by a file, and writes what came of it. */
const Orders = z.strictObject({
  /** The commands of the programs that are installed, by id. */
  commands: z.record(z.string(), z.string()),
  programs: z.array(z.string()),
  scenarios: z.array(z.string()),
  ci: z.boolean(),
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
  const result = await runCell(cell, command, folder)
  if (!orders.keep && result.state !== 'red') await rm(folder, { recursive: true, force: true })
  return result
}

/** A file where none may be is nobody's limit. */
function withStrays(result: CellResult): CellResult {
  const now = filesBelow(orders.covered, orders.kept)
  const strays = changedFiles(files, now)
  files = now
  if (strays.length === 0) return result
  return { ...result, state: 'red', reason: `wrote outside its home: ${strays.slice(0, 3).join(', ')}` }
}

await Promise.all(Array.from({ length: orders.atOnce }, worker))

const warmth: Warmth[] = []
if (!orders.ci && orders.scenarios.length === 0) {
  for (const program of new Set(cells.map((cell) => cell.program))) {
    const command = orders.commands[program.id]
    if (command === undefined) continue
    const ratio = await coldOverWarm(program, command, join(orders.folder, `w-${program.id}`))
    if (ratio === undefined) continue
    warmth.push({ program: program.id, version: program.version, coldOverWarm: ratio })
    console.log(`         ${program.id}: the first text comes ${ratio} times faster from a warm process`)
  }
}
writeFileSync(`${path}.results`, JSON.stringify({ cells: results, warmth }))
