import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { programsOf } from '../fenced.ts'
import { randomFrom } from '../random.ts'
import { playCell } from './cell.ts'
import type { CellReport, Plan } from './plan.ts'

/** Most agents have the prompt after this time. */
const START_MS = 500

/** The part of the run that happens behind the fence. */
const [path = ''] = process.argv.slice(2)
const plan: Plan = JSON.parse(readFileSync(path, 'utf8'))
const cells = plan.programs.flatMap((program) =>
  plan.endings.flatMap((ending) =>
    plan.moments
      // An agent that is about to start is not found again.
      .filter((moment) => moment !== 'start' || ending === 'reboot')
      .flatMap((moment) => Array.from({ length: plan.rounds }, () => ({ program, moment, ending }))),
  ),
)
const random = randomFrom(plan.seed)
const reports: CellReport[] = []
const open = cells.entries()

async function worker(): Promise<void> {
  for (const [index, cell] of open) {
    const [program] = programsOf(cell.program)
    const command = plan.commands[cell.program]
    if (!program || command === undefined) throw new Error(`${cell.program} is not installed`)
    const before = performance.now()
    const folder = join(plan.folder, `c${index}`)
    const delayMs = random() * START_MS
    const problems = await playCell({ ...cell, program, command, folder, launch: plan.launch, delayMs })
    reports[index] = { ...cell, problems }
    const seconds = Math.round((performance.now() - before) / 1000)
    console.log(
      `${cell.program} ${cell.ending} ${cell.moment}: ${problems.join('; ') || 'held'} (${seconds} s)`,
    )
  }
}

await Promise.all(Array.from({ length: plan.atOnce }, worker))
writeFileSync(`${path}.reports`, JSON.stringify(reports))
process.exit(0)
