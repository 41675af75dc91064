import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentSession } from '../src/index.ts'
import { offlineEnvironment, scriptedModel, writeOfflineFiles } from '../src/testing/index.ts'
import type { Program } from './programs.ts'
import { Stage } from './stage.ts'

const WARM_PROMPTS = 5
const LIMIT_MS = 180_000

/** How many times faster the first text comes from a process that is there; undefined when no text came. */
export async function coldOverWarm(
  program: Program,
  command: string,
  folder: string,
): Promise<number | undefined> {
  const [home, cwd] = [join(folder, 'home'), join(folder, 'work')]
  await Promise.all([home, cwd].map((path) => mkdir(path, { recursive: true })))
  await using model = await scriptedModel()
  const offline = offlineEnvironment(program.offline, model, home)
  await writeOfflineFiles(offline)
  const env = { ...offline.env, PATH: process.env.PATH ?? '' }
  const signal = AbortSignal.timeout(LIMIT_MS)
  const setup = { program, launch: 'live', command, env, cwd, model, signal, cell: 'warmth' } as const
  // A first run builds caches that a machine in use has.
  await using before = new Stage(setup)
  await firstText(before, await before.session())
  await using stage = new Stage(setup)
  const session = await stage.session()
  const cold = await firstText(stage, session)
  const warm: number[] = []
  for (let count = 0; count < WARM_PROMPTS; count++) warm.push(await firstText(stage, session))
  const median = warm.sort((a, b) => a - b)[Math.floor(WARM_PROMPTS / 2)]
  return median === undefined || !Number.isFinite(cold) ? undefined : Math.max(1, Math.round(cold / median))
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
