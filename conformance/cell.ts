import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MainstemError } from '../src/index.ts'
import { offlineEnvironment, scriptedModel, writeOfflineFiles } from '../src/testing/index.ts'
import { brokenPromises } from './evidence.ts'
import { limitOf } from './limits/index.ts'
import type { Program } from './programs.ts'
import { seededRandom } from './random.ts'
import type { CellResult } from './results.ts'
import type { Scenario } from './scenario.ts'
import { SCRIPTS } from './scripts.ts'
import { type Launch, Missing, Stage, Unplayable } from './stage.ts'
import { CELL_MARKER, connectionsOf, processesIn, processesOf } from './traces.ts'
import { modelOf } from './usage.ts'

/** One scenario, played by one program in one of its launches. */
export interface Cell {
  readonly program: Program
  readonly launch: Launch
  readonly scenario: Scenario
}

const CELL_MS = 180_000
const LOOK_MS = 250
const SEEN_LENGTH = 300

/** How a scenario ended: passed, failed, broken in a way that no limit explains, or not started. */
type Played = { shown: true } | { shown: false; what: string } | { broken: string } | { unplayable: string }

/** Plays a cell in its folder, and compares the outcome with the limit of the program, if it has one. */
export async function runCell(cell: Cell, command: string, folder: string, seed = 1): Promise<CellResult> {
  const { played, asked } = await play(cell, command, folder, seed)
  const { program, launch, scenario } = cell
  const named = {
    program: program.id,
    version: program.version,
    launch,
    scenario: scenario.id,
    ...(asked && { model: modelOf(asked) }),
  }
  const limit = limitOf(program.id, launch, scenario.id)
  if ('broken' in played) return { ...named, state: 'red', reason: played.broken }
  if ('unplayable' in played) return { ...named, state: 'not run', reason: played.unplayable }
  if (played.shown) {
    return limit
      ? { ...named, state: 'red', reason: `it works, although a limit exists: ${limit.reason}` }
      : { ...named, state: 'yes' }
  }
  const seen = withoutPlaces(played.what, folder)
  if (!limit) return { ...named, state: 'red', reason: seen }
  // A limit explains this failure and no other.
  if (!limit.seen.test(seen)) return { ...named, state: 'red', reason: `${seen} (${limit.reason})` }
  const { reason, evidence, ours } = limit
  const state = ours ? 'ours' : 'no'
  return { ...named, state, reason, seen, ...(evidence !== undefined && { evidence }) }
}

/** Removes the folder of the cell and the port of its model, which differ between runs. */
function withoutPlaces(text: string, folder: string): string {
  const plain = text.replaceAll(folder, '').replace(/(127\.0\.0\.1):\d+/g, '$1')
  return plain.length > SEEN_LENGTH ? `${plain.slice(0, SEEN_LENGTH)}…` : plain
}

async function play(cell: Cell, command: string, folder: string, seed: number) {
  const name = `${cell.program.id}-${cell.launch}-${cell.scenario.id}`
  const [home, cwd] = [join(folder, 'home'), join(folder, 'work')]
  await Promise.all([home, cwd].map((path) => mkdir(path, { recursive: true })))
  await using model = await scriptedModel({ scenarios: SCRIPTS })
  const offline = offlineEnvironment(cell.program.offline, model, home)
  await writeOfflineFiles(offline)
  // Unique, because another run may play the same cell at the same time.
  const marker = `${name}-${randomUUID().slice(0, 8)}`
  const env = { ...offline.env, PATH: process.env.PATH ?? '', [CELL_MARKER]: marker }
  const signal = AbortSignal.timeout(CELL_MS)
  const outside = watchConnections(marker)
  const random = seededRandom(seed, name)
  const stage = new Stage({ ...cell, command, env, cwd, model, signal, cell: marker, random })
  const played = await perform(cell.scenario, stage)
  await stage[Symbol.asyncDispose]()
  const broken = [...stage.logs.flatMap(brokenPromises), ...leftRunning(marker, cwd), ...outside.end()]
  await writeFile(join(folder, 'entries.jsonl'), lines(stage.logs.flat()))
  await writeFile(join(folder, 'requests.jsonl'), lines(model.requests))
  const asked = model.requests.find(({ place }) => place !== undefined)
  const failed = 'what' in played ? [played.what] : []
  return { played: broken.length === 0 ? played : { broken: [...broken, ...failed].join('; ') }, asked }
}

/** Tools and servers may lack the variable that marks a process; they work in the workspace. */
function leftRunning(marker: string, cwd: string): string[] {
  const commands = [...processesOf(marker), ...processesIn(cwd)].map(({ command }) => command)
  return [...new Set(commands)].map((command) => `left running: ${command.slice(0, 100)}`)
}

async function perform(scenario: Scenario, stage: Stage): Promise<Played> {
  const late = Promise.withResolvers<never>()
  const tooLate = () => late.reject(new MainstemError('timeout', `not over after ${CELL_MS / 1000} s`))
  stage.signal.addEventListener('abort', tooLate, { once: true })
  try {
    await Promise.race([scenario.play(stage), late.promise])
    return { shown: true }
  } catch (thrown) {
    if (thrown instanceof Missing) return { shown: false, what: thrown.message }
    if (thrown instanceof Unplayable) return { unplayable: thrown.message }
    // A refusal is a valid outcome; any other error is not.
    const isRefusal = thrown instanceof MainstemError && thrown.code === 'unsupported_option'
    if (isRefusal) return { shown: false, what: `${thrown.code}: ${thrown.message}` }
    return { broken: thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown) }
  } finally {
    stage.signal.removeEventListener('abort', tooLate)
  }
}

/** Polls for connections to other machines; in a namespace without a route there are none. */
function watchConnections(cell: string): { end(): string[] } {
  const found = new Set<string>()
  const look = () => {
    for (const remote of connectionsOf(cell)) found.add(`connected to ${remote}`)
  }
  const timer = setInterval(look, LOOK_MS)
  return {
    end() {
      clearInterval(timer)
      return [...found]
    },
  }
}

function lines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('')
}
