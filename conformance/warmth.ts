import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentSession } from '../src/index.ts'
import { offlineEnvironment, scriptedModel, writeOfflineFiles } from '../src/testing/index.ts'
import type { Program } from './programs.ts'
import type { Spread, Warmth } from './results.ts'
import { Stage } from './stage.ts'

const RUNS = 5
const LIMIT_MS = 300_000

/** Measures the time to the first text in new and in running processes; undefined when no text came. */
export async function measureWarmth(
  program: Program,
  command: string,
  folder: string,
): Promise<Warmth | undefined> {
  const [home, cwd] = [join(folder, 'home'), join(folder, 'work')]
  await Promise.all([home, cwd].map((path) => mkdir(path, { recursive: true })))
  await using model = await scriptedModel()
  const offline = offlineEnvironment(program.offline, model, home)
  await writeOfflineFiles(offline)
  const env = { ...offline.env, PATH: process.env.PATH ?? '' }
  const signal = AbortSignal.timeout(LIMIT_MS)
  const place = { program, launch: 'live', command, env, cwd, model, signal, cell: 'warmth' } as const
  const setup = { ...place, random: Math.random }
  const [cold, warm]: [number[], number[]] = [[], []]
  // The first run builds caches that a machine in use has.
  for (let run = 0; run <= RUNS; run++) {
    await using stage = new Stage(setup)
    const session = await stage.session()
    const times = [await firstText(stage, session), await firstText(stage, session)]
    if (run === 0) continue
    cold.push(times[0] ?? Number.NaN)
    warm.push(times[1] ?? Number.NaN)
  }
  if (![...cold, ...warm].every(Number.isFinite)) return undefined
  return { program: program.id, version: program.version, runs: RUNS, cold: spread(cold), warm: spread(warm) }
}

function spread(times: readonly number[]): Spread {
  const sorted = times.map(Math.round).sort((a, b) => a - b)
  const at = (place: number) => sorted[Math.floor((sorted.length - 1) * place)] ?? 0
  return { min: at(0), median: at(0.5), max: at(1) }
}

/** Milliseconds from a prompt to the first text of its answer. */
async function firstText(stage: Stage, session: AgentSession): Promise<number> {
  const before = performance.now()
  let after = Number.POSITIVE_INFINITY
  await stage.turn(session, 'text', {
    during({ type }) {
      if (type.startsWith('text.')) after = Math.min(after, performance.now())
    },
  })
  return after - before
}
