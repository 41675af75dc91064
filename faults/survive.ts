import { parseArgs } from 'node:util'
import { programsOf, runFenced } from './fenced.ts'
import { type CellReport, ENDINGS, MOMENTS, type Plan, tableOf } from './survive/plan.ts'

/**
 * `npm run faults -- survive [--agents claude,codex] [--moments text] [--endings kill]`: the server of a real CLI goes away
 * in the middle of text, of a tool or of an open permission request, and starts again. Checks that the turn goes on in
 * the same process of the agent, that the request is answered, and that nothing is missing or repeated.
 */
const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: 'claude,codex,gemini,pi,opencode' },
    moments: { type: 'string', default: MOMENTS.join() },
    endings: { type: 'string', default: ENDINGS.join() },
    'at-once': { type: 'string', default: '2' },
    keep: { type: 'boolean', default: false },
  },
})

const programs = programsOf(values.agents)
const plan = {
  programs: programs.map(({ id }) => id),
  moments: MOMENTS.filter((moment) => values.moments.split(',').includes(moment)),
  endings: ENDINGS.filter((ending) => values.endings.split(',').includes(ending)),
  atOnce: Number(values['at-once']),
}
const reports = await runFenced<Plan, CellReport>('faults/survive/inside.ts', programs, plan, values.keep)
console.log(tableOf(reports))
process.exitCode = reports.every(({ problems }) => problems.length === 0) ? 0 : 1
