import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Policy } from '../src/model/index.ts'
import { runCell } from './cell.ts'
import { install } from './install.ts'
import { PROGRAMS } from './programs.ts'
import type { Scenario } from './scenario.ts'
import { completes, HELLO } from './scenarios/text.ts'
import { eventsOf, type FinishedTurn, must, type Stage } from './stage.ts'

/** Limits of a policy and options on the real programs: each is enforced, or refused before the program starts. */
interface OptionCase {
  readonly title: string
  /** Throws where the option was ignored; a remark goes into the table. */
  play(stage: Stage, agent: string): Promise<string | undefined>
}

interface PolicyCase {
  readonly title: string
  policy(agent: string): Policy
  readonly script: string
  check(stage: Stage, told: FinishedTurn): string | undefined
}

const ofPolicy = ({ title, policy, script, check }: PolicyCase): OptionCase => ({
  title,
  async play(stage, agent) {
    const session = await stage.session({ policy: policy(agent) })
    return check(stage, await stage.turn(session, script))
  },
})

/** A resumed conversation has the system prompt of the session that resumes it, not the one that it began with. */
const resumed = (kind: 'append' | 'replace'): OptionCase => ({
  title: `systemPrompt.${kind} on resume`,
  async play(stage) {
    const promptOf = (text: string) => ({ options: { systemPrompt: { [kind]: text } } })
    const first = await stage.session(promptOf('PROMPT-OF-THE-FIRST'))
    await stage.turn(first, 'text')
    const resume = first.nativeSessionId
    must(resume !== undefined, 'the program has no session to resume')
    await first.close()
    stage.canResume()
    const second = await stage.session({ ...promptOf('PROMPT-OF-THE-SECOND'), resume })
    completes(await stage.turn(second, 'text'), HELLO)
    const { body } = stage.model.requests.findLast(({ place }) => place?.scenario === 'text') ?? {}
    const sent = JSON.stringify(body)
    must(sent.includes('PROMPT-OF-THE-SECOND'), 'IGNORED: the model was not sent the system prompt')
    must(!sent.includes('PROMPT-OF-THE-FIRST'), 'IGNORED: the model was sent the earlier system prompt')
    return undefined
  },
})

/** The names by which programs call their shell. */
const SHELLS: Readonly<Record<string, string>> = {
  claude: 'Bash',
  codex: 'exec_command',
  gemini: 'run_shell_command',
  opencode: 'bash',
}

const free = (tools: Policy['tools']): Policy => ({ approval: 'auto-all', sandbox: 'full-access', tools })
const shell = (agent: string) => SHELLS[agent] ?? 'execute'

function ranNot({ cwd }: Stage): undefined {
  must(!existsSync(join(cwd, 'ran.txt')), 'IGNORED: the command ran')
}

function wroteNot({ cwd }: Stage): undefined {
  must(!existsSync(join(cwd, 'hello.txt')), 'IGNORED: the file was written')
}

function ran({ cwd }: Stage, { events }: FinishedTurn): undefined {
  must(existsSync(join(cwd, 'ran.txt')), 'IGNORED: the command did not run')
  const asked = eventsOf(events, 'request.resolved').filter(({ by }) => by !== 'policy')
  must(asked.length === 0, `IGNORED: it was asked for and answered by ${asked[0]?.by}`)
}

const steps = (maxSteps: number): PolicyCase => ({
  title: `maxSteps ${maxSteps}`,
  policy: () => ({ approval: 'auto-all', sandbox: 'full-access', maxSteps }),
  script: 'endless',
  check({ model }, { outcome }) {
    const calls = model.requests.filter(({ place }) => place?.scenario === 'endless').length
    // A program that is stopped from outside may have begun its next call, which is then cancelled.
    const isLate = calls === maxSteps + 1
    must(
      outcome === 'max_steps' && (calls === maxSteps || isLate),
      `IGNORED: ${calls} calls, the outcome is ${outcome}`,
    )
    return isLate ? `one more call was begun` : undefined
  },
})

const POLICIES: readonly PolicyCase[] = [
  { title: 'denied execute', policy: () => free({ denied: ['execute'] }), script: 'touches', check: ranNot },
  {
    title: 'denied by native name',
    policy: (agent) => free({ denied: [shell(agent)] }),
    script: 'touches',
    check: ranNot,
  },
  { title: 'denied Bash', policy: () => free({ denied: ['Bash'] }), script: 'touches', check: ranNot },
  { title: 'denied edit', policy: () => free({ denied: ['edit'] }), script: 'write', check: wroteNot },
  {
    title: 'denied Frobnicate',
    policy: () => free({ denied: ['Frobnicate'] }),
    script: 'text',
    check: ranNot,
  },
  { title: 'available read', policy: () => free({ available: ['read'] }), script: 'touches', check: ranNot },
  {
    title: 'available execute',
    policy: () => free({ available: ['execute'] }),
    script: 'touches',
    check: ran,
  },
  {
    title: 'available, so no edit',
    policy: (agent) => free({ available: [shell(agent)] }),
    script: 'write',
    check: wroteNot,
  },
  {
    title: 'preapproved execute',
    policy: () => ({ approval: 'ask', sandbox: 'none', tools: { preapproved: ['execute'] } }),
    script: 'touches',
    check: ran,
  },
  steps(1),
  steps(3),
  {
    title: 'budget',
    policy: () => ({ approval: 'auto-all', sandbox: 'full-access', maxBudgetUsd: 0.000001 }),
    script: 'endless',
    check(_, { outcome }) {
      must(outcome === 'max_budget', `IGNORED: the outcome is ${outcome}`)
      return undefined
    },
  },
]

const CASES: readonly OptionCase[] = [...POLICIES.map(ofPolicy), resumed('append'), resumed('replace')]

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: ['claude', 'codex', 'gemini', 'opencode'] },
    case: { type: 'string', multiple: true, default: [] },
  },
})

function scenarioOf({ title, play }: OptionCase, agent: string, remark: (words: string) => void): Scenario {
  return {
    id: title.replaceAll(/\W+/g, '-'),
    title,
    effect: 'the option has its effect, or is refused',
    async play(stage) {
      const words = await play(stage, agent)
      if (words !== undefined) remark(words)
    },
  }
}

/** One column of the table: what became of each case. */
async function column(program: (typeof PROGRAMS)[number], launch: 'live' | 'oneshot', folder: string) {
  const installed = await install(program)
  if (!('command' in installed)) throw new Error(`${program.id} could not be installed: ${installed.failed}`)
  const cells: string[] = []
  for (const [index, one] of cases.entries()) {
    let remark = ''
    const scenario = scenarioOf(one, program.agent, (words) => {
      remark = ` (${words})`
    })
    const cell = { program, launch, scenario }
    const place = join(folder, `${program.id}-${launch}-${index}`)
    const { state, reason = '' } = await runCell(cell, installed.command, place)
    const refused = reason.startsWith('unsupported_option: ')
    if (state !== 'yes' && !refused) process.exitCode = 1
    cells.push(state === 'yes' ? `enforced${remark}` : refused ? 'refused' : `FAILED: ${reason}`)
    console.log(`${program.id} ${launch}: ${one.title}: ${cells.at(-1)} ${refused ? reason : ''}`)
  }
  return [`${program.id} ${launch}`, ...cells]
}

const cases = CASES.filter(({ title }) => values.case.length === 0 || values.case.includes(title))
const folder = await mkdtemp(join(tmpdir(), 'mo-'))
try {
  const columns: string[][] = []
  for (const program of PROGRAMS.filter(({ id }) => values.only.includes(id)))
    for (const launch of program.launches) columns.push(await column(program, launch, folder))
  for (const index of ['option', ...cases.map(({ title }) => title)].keys()) {
    const head = index === 0 ? 'option' : (cases[index - 1]?.title ?? '')
    console.log(`| ${[head, ...columns.map((one) => one[index])].join(' | ')} |`)
    if (index === 0) console.log(`|${'---|'.repeat(columns.length + 1)}`)
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}
