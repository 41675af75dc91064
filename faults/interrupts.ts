import { parseArgs } from 'node:util'
import { programsOf, runFenced } from './fenced.ts'
import { type CellReport, isClean, type Plan, tableOf } from './interrupts/plan.ts'

/**
 * `npm run faults -- interrupts [--agents claude,codex] [--launch live] [--count 50] [--seed N]`: interrupts the real CLIs at
 * random moments from 0 to 3 s and checks that the turn ends, that the next prompt works, and that the agent still
 * has the conversation in its context or that the loss was reported.
 */
const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: 'claude,codex,gemini,opencode' },
    launch: { type: 'string' },
    count: { type: 'string', default: '50' },
    seed: { type: 'string' },
    'at-once': { type: 'string', default: '2' },
    keep: { type: 'boolean', default: false },
  },
})

const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9))
const programs = programsOf(values.agents)
const plan = {
  seed,
  count: Number(values.count),
  atOnce: Number(values['at-once']),
  cells: programs.flatMap(({ id, launches }) =>
    launches
      .filter((one) => values.launch === undefined || one === values.launch)
      .map((launch) => ({ program: id, launch })),
  ),
}
const reports = await runFenced<Plan, CellReport>('faults/interrupts/inside.ts', programs, plan, values.keep)
console.log(tableOf(reports))
console.log(`seed ${seed}`)
process.exitCode = reports.every(isClean) ? 0 : 1
