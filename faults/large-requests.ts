import { parseArgs } from 'node:util'
import { programsOf, runFenced } from './fenced.ts'
import type { Plan, Report } from './large-requests/plan.ts'

/**
 * `npm run faults -- large-requests [--agents claude] [--megabytes 17]`: the real CLIs ask to write a file whose request
 * is larger than a frame may be. It is allowed once and denied once, and the file is the witness of both.
 */
const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: 'claude' },
    megabytes: { type: 'string', default: '17' },
    keep: { type: 'boolean', default: false },
  },
})

const programs = programsOf(values.agents)
const plan = { megabytes: Number(values.megabytes), programs: programs.map(({ id }) => id) }
const script = 'faults/large-requests/inside.ts'
const reports = await runFenced<Plan, Report>(script, programs, plan, values.keep)
const bad = reports.filter(({ problems }) => problems.length > 0)
console.log(`${reports.length} requests, ${bad.length} with problems`)
process.exitCode = bad.length === 0 ? 0 : 1
