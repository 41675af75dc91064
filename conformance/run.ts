import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { LaunchKind } from '../src/model/index.ts'
import { cleanEnvironment, type Fence, raiseFence } from './fence.ts'
import type { Orders } from './inside.ts'
import { cacheFolder, type Installed, install } from './install.ts'
import {
  compareNewest,
  latestSection,
  type Newest,
  newestPrograms,
  newestVersion,
  writeLatest,
} from './latest.ts'
import { writePages } from './pages.ts'
import { type Choice, cellsOf, unknownName } from './plan.ts'
import {
  CellState,
  merge,
  nameOf,
  RESULTS_FILE,
  type Results,
  Results as ResultsSchema,
  readResults,
  stepsBack,
} from './results.ts'
import { SCENARIOS } from './scenarios/index.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    scenario: { type: 'string', multiple: true, default: [] },
    launch: { type: 'string', multiple: true, default: [] },
    seed: { type: 'string' },
    ci: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    warmth: { type: 'boolean', default: false },
    latest: { type: 'boolean', default: false },
    'at-once': { type: 'string', default: '2' },
  },
})

const names = (given: readonly string[]) => given.flatMap((one) => one.split(','))
const choice: Choice = {
  programs: names(values.only),
  scenarios: names(values.scenario),
  launches: LaunchKind.array().parse(names(values.launch)),
  ci: values.ci,
}
const seed = values.seed === undefined ? randomInt(1_000_000) : Number.parseInt(values.seed, 10)

const stranger = unknownName(choice)
if (stranger !== undefined) {
  console.error(`There is no program and no scenario named ${stranger}; --list shows them.`)
  process.exitCode = 2
} else if (values.list) {
  for (const { program, launch, scenario } of cellsOf(choice)) {
    console.log(`${program.id}/${launch}/${scenario.id}  ${program.version}  ${scenario.title}`)
  }
} else {
  process.exitCode = values.latest ? await runLatest() : await run()
}

/** Plays the newest versions of the programs that have one, and writes what they do differently. */
async function runLatest(): Promise<number> {
  const programs = newestPrograms().filter(
    ({ id }) => choice.programs.length === 0 || choice.programs.includes(id),
  )
  const versions: Record<string, string> = {}
  const installed = new Map<string, Installed>()
  for (const program of programs) {
    const version = await newestVersion(program)
    versions[program.id] = version
    installed.set(program.id, await install({ ...program, version }))
  }
  const changed = programs.filter(({ id, version }) => versions[id] !== version)
  const newer = { ...choice, programs: changed.map(({ id }) => id), ci: false, versions }
  const scenarios = choice.ci ? SCENARIOS.filter(({ inCi }) => inCi).map(({ id }) => id) : choice.scenarios
  const now = changed.length === 0 ? { cells: [], warmth: [] } : await playBehind({ ...newer, scenarios })
  const compared: Newest[] = []
  for (const program of programs) {
    const { id } = program
    const found = installed.get(id) ?? { failed: 'it was not installed' }
    const programs = { tested: await install(program), installed: found }
    compared.push(await compareNewest(program, versions[id] ?? '', programs, readResults(), now))
  }
  writeLatest({ date: new Date().toISOString().slice(0, 10), programs: compared })
  writePages(readResults())
  for (const line of latestSection({ date: '', programs: compared }).slice(2)) console.log(line)
  return compared.some(({ changed: cells }) => cells.some((cell) => cell.now === 'red')) ? 1 : 0
}

async function run(): Promise<number> {
  return conclude(await playBehind(choice))
}

async function playBehind(choice: Choice): Promise<Results> {
  const commands = await installAll(choice)
  // A short path, because programs put sockets below it.
  const folder = await mkdtemp(join(tmpdir(), 'mc-'))
  // Resolved, because a copy of the sources links to the packages of another folder.
  const kept = [folder, cacheFolder(), realpathSync('node_modules')]
  const fence = await raiseFence(kept)
  console.log(`fence: ${fence.words}`)
  console.log(`seed: ${seed} (pass --seed ${seed} for the same random moments)`)
  try {
    return await behind(fence, folder, { ...orders(choice, fence, folder, kept), commands })
  } finally {
    if (values.keep) console.log(`kept: ${folder}`)
    else await rm(folder, { recursive: true, force: true })
  }
}

async function installAll(choice: Choice): Promise<Record<string, string>> {
  const commands: Record<string, string> = {}
  for (const program of new Set(cellsOf(choice).map((cell) => cell.program))) {
    const installed = await install(program)
    const name = `${program.package}@${program.version}`
    if ('command' in installed) commands[program.id] = installed.command
    console.log('command' in installed ? `installed: ${name}` : `NOT RUN: ${name}: ${installed.failed}`)
  }
  return commands
}

function orders(
  { programs, scenarios, launches, ci, versions = {} }: Choice,
  fence: Fence,
  folder: string,
  kept: readonly string[],
): Omit<Orders, 'commands'> {
  return {
    programs: [...programs],
    scenarios: [...scenarios],
    launches: [...launches],
    seed,
    ci,
    versions: { ...versions },
    warmth: values.warmth,
    atOnce: Number.parseInt(values['at-once'], 10),
    keep: values.keep,
    covered: [...fence.covered],
    kept: [...kept, process.cwd()].map((path) => resolve(path)),
    folder,
  }
}

/** Runs the cells behind the fence, in an environment with nothing of ours. */
async function behind({ prefix }: Fence, folder: string, todo: Orders): Promise<Results> {
  const path = join(folder, 'orders.json')
  writeFileSync(path, JSON.stringify(todo))
  const [program = '', ...args] = [...prefix, process.execPath, 'conformance/inside.ts', path]
  const child = spawn(program, args, {
    env: cleanEnvironment(folder),
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`the run behind the fence ended with ${code}`)
  return ResultsSchema.parse(JSON.parse(readFileSync(`${path}.results`, 'utf8')))
}

/** Prints the results. Only a full run, or a run of chosen cells, updates the stored results. */
function conclude(now: Results): number {
  const before = readResults()
  const counts = Map.groupBy(now.cells, ({ state }) => state)
  const count = (state: CellState) => counts.get(state)?.length ?? 0
  const states = CellState.options.map((state) => `${count(state)} ${state}`)
  console.log(states.join(', '))
  for (const cell of counts.get('not run') ?? []) console.log(`NOT RUN: ${nameOf(cell)}`)
  for (const cell of counts.get('red') ?? []) console.log(`red: ${nameOf(cell)}: ${cell.reason}`)
  const back = stepsBack(before, now)
  for (const cell of back) console.log(`regression: ${nameOf(cell)}`)
  if (!choice.ci) {
    const ran = { ...now, cells: now.cells.filter(({ state }) => state !== 'not run') }
    const after = merge(before, ran)
    writeFileSync(RESULTS_FILE, `${JSON.stringify(after, undefined, 2)}\n`)
    writePages(after)
  }
  return back.length > 0 || count('red') > 0 ? 1 : 0
}
