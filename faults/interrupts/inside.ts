import { readFileSync, writeFileSync } from 'node:fs'
import { PROGRAMS } from '../../conformance/programs.ts'
import { playCell } from './cell.ts'
import type { CellReport, Plan } from './plan.ts'

/** The part of the run that happens behind the fence. */
const [path = ''] = process.argv.slice(2)
const plan: Plan = JSON.parse(readFileSync(path, 'utf8'))
const reports: CellReport[] = []
const open = plan.cells.entries()

async function worker(): Promise<void> {
  for (const [index, { program: id, launch }] of open) {
    const program = PROGRAMS.find((one) => one.id === id)
    const command = plan.commands[id]
    if (!program || command === undefined) throw new Error(`${id} is not installed`)
    const before = performance.now()
    const trials = await playCell({
      program,
      launch,
      command,
      folder: `${plan.folder}/c${index}`,
      seed: plan.seed + index,
      count: plan.count,
    })
    reports[index] = { program: id, launch, trials }
    const bad = trials.filter(({ problems }) => problems.length > 0)
    console.log(
      `${id}/${launch}: ${trials.length} interrupts in ${Math.round((performance.now() - before) / 1000)} s, ${bad.length} with problems`,
    )
    for (const trial of bad) console.log(`  ${JSON.stringify(trial)}`)
  }
}

await Promise.all(Array.from({ length: plan.atOnce }, worker))
writeFileSync(`${path}.reports`, JSON.stringify(reports))
process.exit(0)
