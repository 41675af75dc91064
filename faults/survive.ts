import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { LaunchKind } from '../src/model/index.ts'
import { programsOf, runFenced } from './fenced.ts'
import { type CellReport, ENDINGS, MOMENTS, type Plan, tableOf } from './survive/plan.ts'

/**
 * `npm run faults -- survive [--agents claude,codex] [--moments text] [--endings kill]`: the server of a real CLI goes away
 * in the middle of text, of a tool or of an open permission request, and starts again. Checks that the turn goes on in
 * the same process of the agent, that the request is answered, and that nothing is missing or repeated.
 *
 * `--moments start --endings reboot --launch oneshot --rounds 20 [--seed 7]`: server and agent are killed at a random moment
 * of the first half second. Checks that the prompt is in the conversation, or that the log says that it may be lost.
 */
const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: 'claude,codex,gemini,pi,opencode' },
    moments: { type: 'string', default: MOMENTS.join() },
    endings: { type: 'string', default: ENDINGS.join() },
    launch: { type: 'string', default: 'live' },
    rounds: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    'at-once': { type: 'string', default: '2' },
    keep: { type: 'boolean', default: false },
  },
})

const programs = programsOf(values.agents)
const plan = {
  programs: programs.map(({ id }) => id),
  moments: MOMENTS.filter((moment) => values.moments.split(',').includes(moment)),
  endings: ENDINGS.filter((ending) => values.endings.split(',').includes(ending)),
  launch: LaunchKind.parse(values.launch),
  rounds: Number(values.rounds),
  seed: Number(values.seed),
  atOnce: Number(values['at-once']),
}
console.log(`seed: ${plan.seed}`)
const reports = await runFenced<Plan, CellReport>('faults/survive/inside.ts', programs, plan, values.keep)
console.log(tableOf(reports))
process.exitCode = reports.every(({ problems }) => problems.length === 0) ? 0 : 1
