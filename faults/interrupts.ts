import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { cleanEnvironment, raiseFence } from '../conformance/fence.ts'
import { cacheFolder, install } from '../conformance/install.ts'
import { PROGRAMS, type Program } from '../conformance/programs.ts'
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
const ids = values.agents.split(',')
const unknown = ids.find((id) => !PROGRAMS.some((program) => program.id === id))
if (unknown === undefined) process.exitCode = await run()
else {
  console.error(`There is no program ${unknown}. Known: ${PROGRAMS.map(({ id }) => id).join(', ')}.`)
  process.exitCode = 2
}

async function run(): Promise<number> {
  const programs = PROGRAMS.filter(({ id }) => ids.includes(id))
  const commands = await installAll(programs)
  // Sockets go below this path, and their paths are limited to about 100 characters.
  const folder = await mkdtemp(join(tmpdir(), 'mi-'))
  const plan: Plan = {
    folder,
    seed,
    count: Number(values.count),
    atOnce: Number(values['at-once']),
    commands,
    cells: programs.flatMap(({ id, launches }) =>
      launches
        .filter((one) => values.launch === undefined || one === values.launch)
        .map((launch) => ({ program: id, launch })),
    ),
  }
  try {
    const reports = await behindFence(plan)
    console.log(tableOf(reports))
    console.log(`seed ${seed}`)
    return reports.every(isClean) ? 0 : 1
  } finally {
    if (values.keep) console.log(`kept: ${folder}`)
    else await rm(folder, { recursive: true, force: true })
  }
}

async function installAll(programs: readonly Program[]): Promise<Record<string, string>> {
  const commands: Record<string, string> = {}
  for (const program of programs) {
    const installed = await install(program)
    if ('failed' in installed) throw new Error(`${program.package}@${program.version}: ${installed.failed}`)
    commands[program.id] = installed.command
  }
  return commands
}

/** The CLIs run without a network and with nothing of our environment. */
async function behindFence(plan: Plan): Promise<CellReport[]> {
  const path = join(plan.folder, 'plan.json')
  writeFileSync(path, JSON.stringify(plan))
  const { prefix } = await raiseFence([plan.folder, cacheFolder()])
  const [program = '', ...args] = [...prefix, process.execPath, 'faults/interrupts/inside.ts', path]
  const child = spawn(program, args, {
    env: cleanEnvironment(plan.folder),
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`the run behind the fence ended with ${code}`)
  return JSON.parse(readFileSync(`${path}.reports`, 'utf8'))
}
