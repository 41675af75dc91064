import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { MainstemClient } from '../../src/client/index.ts'
import type { Entry, SessionOptions } from '../../src/model/index.ts'
import { Host } from '../crash/host.ts'
import { programsOf } from '../fenced.ts'
import { offlineCell } from '../offline-cell.ts'
import { limitedModel, promptOf } from './limited-model.ts'
import { CASES, type Case, type CaseReport, type Plan } from './plan.ts'
import { reportOf } from './report.ts'

const OPTIONS: Readonly<Record<Case, SessionOptions>> = {
  wait: { onLimit: 'wait' },
  cap: { onLimit: 'wait', continuations: { max: 1 } },
  cancel: { onLimit: 'wait' },
  'hand-over': { onLimit: { continueAs: 'codex' } },
}

const END_MS = 60_000
const LOOK_MS = 100
/** A continuation that was cancelled would have begun by then. */
const LATER_MS = 3_000

/** The part of the run that happens behind the fence. */
const [path = ''] = process.argv.slice(2)
const plan: Plan = JSON.parse(readFileSync(path, 'utf8'))
const resetsAt = Math.ceil((Date.now() + plan.resetMs) / 1000) * 1000
const model = await limitedModel(resetsAt)
const data = join(plan.folder, 'data')
mkdirSync(data)
const agents = Object.fromEntries(await Promise.all(programsOf('claude,codex').map(settingsOf)))
const host = await Host.create(data, { program: 'serve', drainMs: 50, cwd: plan.folder, config: { agents } })
const [headers = { authorization: '' }] = host.principals.values()
writeFileSync(`${path}.reports`, JSON.stringify(await play()))
process.exit(0)

/** An agent that has an account. Only with one does Claude Code read the limits. The token is made up. */
async function settingsOf(program: ReturnType<typeof programsOf>[number]) {
  const { env } = await offlineCell(program, join(plan.folder, program.id), model)
  const { ANTHROPIC_API_KEY: key, ...others } = env
  const account = key === undefined ? {} : { CLAUDE_CODE_OAUTH_TOKEN: key }
  return [program.agent, { command: [plan.commands[program.id]], env: { ...others, ...account } }]
}

async function play(): Promise<CaseReport[]> {
  await host.start()
  try {
    const ids = new Map<Case, string>()
    for (const name of CASES) ids.set(name, await begin(name))
    const waiting = CASES.filter((name) => name !== 'hand-over')
    for (const name of waiting) await until(`${name}: a continuation`, () => waits(ids.get(name) ?? ''))
    host.signal('SIGKILL')
    await host.exited()
    await host.start()
    await (await client()).interrupt(ids.get('cancel') ?? '')
    for (const [name, id] of ids)
      await until(`${name}: the end of two turns`, async () => endsIn(await entriesOf(id)) === 2)
    await sleep(Math.max(0, resetsAt - Date.now()) + LATER_MS)
    const reports: CaseReport[] = []
    for (const [name, id] of ids) {
      const entries = await entriesOf(id)
      writeFileSync(
        join(plan.folder, `${name}.jsonl`),
        entries.map((one) => `${JSON.stringify(one)}\n`).join(''),
      )
      reports.push(reportOf(name, entries, model.requests, resetsAt))
    }
    return reports
  } finally {
    host.signal('SIGTERM')
    await host.exited()
  }
}

async function begin(name: Case): Promise<string> {
  const begun = await (await client()).begin({
    agent: 'claude',
    cwd: plan.folder,
    policy: { approval: 'auto-all', sandbox: 'full-access' },
    options: OPTIONS[name],
    prompt: promptOf(name),
  })
  return begun.id
}

/** The session waits for the reset. */
async function waits(id: string): Promise<boolean> {
  const { queue, limit } = await (await client()).session(id)
  const at = queue[0]?.continuation?.at
  if (at !== undefined && (at !== resetsAt || limit?.resetsAt !== resetsAt))
    throw new Error(`it continues at ${at}, and its limit is ${JSON.stringify(limit)}, not ${resetsAt}`)
  return at !== undefined
}

/** A continuation that was cancelled has an end too. */
function endsIn(entries: readonly Entry[]): number {
  return entries.filter(({ event }) => event.type === 'turn.completed').length
}

async function client(): Promise<MainstemClient> {
  return new MainstemClient({
    baseUrl: await host.url,
    token: headers.authorization.replace('Bearer ', ''),
  })
}

async function entriesOf(id: string): Promise<readonly Entry[]> {
  return (await (await client()).page(id, { limit: 1000 })).entries ?? []
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + END_MS + plan.resetMs; !(await holds()); await sleep(LOOK_MS)) {
    if (Date.now() > end) throw new Error(`${what} did not come in time`)
  }
}
