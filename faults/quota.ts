import { parseArgs } from 'node:util'
import { programsOf, runFenced } from './fenced.ts'
import { type CaseReport, type Plan, tableOf } from './quota/plan.ts'

/**
 * `npm run faults -- quota [--seconds 20]`: the scripted model refuses the real Claude Code with the headers of a used-up
 * subscription, which name a reset. Sessions with `onLimit` wait for it, wait for a limit that stays used up, are cancelled,
 * or are continued by Codex. The server is killed and started again while they wait. Checks that each continuation
 * runs once and not before the reset, with the conversation so far, or not at all.
 */
const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '20' }, keep: { type: 'boolean', default: false } },
})

const plan = { resetMs: Number(values.seconds) * 1000 }
const programs = programsOf('claude,codex')
const reports = await runFenced<Plan, CaseReport>('faults/quota/inside.ts', programs, plan, values.keep)
console.log(tableOf(reports))
process.exitCode = reports.every(({ problems }) => problems.length === 0) ? 0 : 1
