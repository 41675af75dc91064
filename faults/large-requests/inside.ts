import { readFileSync, writeFileSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PROGRAMS, type Program } from '../../conformance/programs.ts'
import { type Event, mainstem } from '../../src/index.ts'
import { offlineEnvironment, scriptedModel, writeOfflineFiles } from '../../src/testing/index.ts'
import type { Plan, Report } from './plan.ts'

/** The part of the run that happens behind the fence. */
const [path = ''] = process.argv.slice(2)
const plan: Plan = JSON.parse(readFileSync(path, 'utf8'))

const FILE = 'large.txt'
const TURN_MS = 120_000
const LINE = 10

/** Lines that differ, so that a lost or repeated part shows. */
const content = Array.from({ length: (plan.megabytes * 1_000_000) / LINE }, (_, index) =>
  `${index}`.padStart(LINE - 1, '0').concat('\n'),
).join('')

async function play(program: Program, decision: Report['decision']): Promise<Report> {
  const command = plan.commands[program.id]
  if (command === undefined) throw new Error(`${program.id} is not installed`)
  const folder = join(plan.folder, `${program.id}-${decision}`)
  const [home, cwd] = [join(folder, 'home'), join(folder, 'work')]
  await Promise.all([home, cwd].map((one) => mkdir(one, { recursive: true })))
  const replies = [{ calls: [{ do: 'write' as const, path: FILE, content }] }, { text: 'It is over.' }]
  await using model = await scriptedModel({ scenarios: { large: { replies } } })
  const offline = offlineEnvironment(program.offline, model, home)
  await writeOfflineFiles(offline)
  const env = { ...offline.env, PATH: process.env.PATH ?? '' }
  await using stem = mainstem({ agents: { [program.agent]: { command: [command], env } } })
  const policy = { approval: 'ask', sandbox: 'none', timeoutMs: TURN_MS } as const
  await using session = await stem.session({ agent: program.agent, launch: 'live', cwd, policy })
  const events: Event[] = []
  for await (const { event } of session.prompt(`SCENARIO:large CWD:${cwd} please`)) {
    events.push(event)
    if (event.type === 'request.opened') await session.answer(event, { decision })
  }
  const written = await readFile(join(cwd, FILE), 'utf8').catch(() => undefined)
  return { program: program.id, decision, problems: problemsOf(decision, events, written) }
}

function problemsOf(
  decision: Report['decision'],
  events: readonly Event[],
  written: string | undefined,
): string[] {
  const found: string[] = []
  const asked = events.filter(({ type }) => type === 'request.opened').length
  const [call, ...others] = events.filter((event) => event.type === 'tool.completed')
  const end = events.find((event) => event.type === 'turn.completed')
  if (asked !== 1) found.push(`${asked} requests`)
  if (others.length > 0) found.push(`${others.length + 1} calls`)
  const status = decision === 'allow' ? 'success' : 'denied'
  if (call?.status !== status) found.push(`the call is ${call?.status}`)
  if (events.some(({ type }) => type === 'native.unmapped')) found.push('an unmapped frame')
  // Some agents end the turn at a denial.
  if (decision === 'allow' && end?.outcome !== 'completed') found.push(`the turn is ${end?.outcome}`)
  if (decision === 'allow' && written !== content) found.push(`the file has ${written?.length} characters`)
  if (decision === 'deny' && written !== undefined) found.push('the file was written')
  return found
}

const reports: Report[] = []
for (const id of plan.programs) {
  const program = PROGRAMS.find((one) => one.id === id)
  if (!program) throw new Error(`There is no program ${id}`)
  for (const decision of ['allow', 'deny'] as const) {
    const report = await play(program, decision)
    reports.push(report)
    console.log(`${id}: ${decision}: ${report.problems.join(', ') || 'as decided'}`)
  }
}
writeFileSync(`${path}.reports`, JSON.stringify(reports))
process.exit(0)
