import { readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import * as z from 'zod'
import type { Agent } from '../agents/agent.ts'
import type { AgentSetup } from '../agents/setup.ts'
import type { AgentSettings } from '../sessions/deps.ts'
import { askAgent, locate, type ProbeContext } from './agent-program.ts'
import { agentEnvironment } from './credentials.ts'

/**
 * Determines the version of an agent's installed program before a session starts it. Reads it from the manifest of an
 * npm package; runs any other program once, and again when its file changes.
 */
export function installedVersions(settingsOf: (id: string) => AgentSettings, context: ProbeContext) {
  const asked = new Map<string, Promise<string | undefined>>()
  return async ({ id, setup }: Agent): Promise<string | undefined> => {
    const settings = settingsOf(id)
    if (!setup?.version || (settings.command?.length ?? 0) > 1) return undefined
    const program = programOf(id, setup, settings, context)
    if (program === undefined) return undefined
    const stated = manifestVersion(program.path)
    if (stated !== undefined) return stated
    const key = JSON.stringify([id, program])
    const known = asked.get(key)
    if (known) return known
    const answer = askAgent(program.path, setup, settings, context).then(({ version }) => version)
    asked.set(key, answer)
    return answer
  }
}

interface InstalledFile {
  path: string
  modifiedMs: number
  bytes: number
}

/** The file behind the name, with symbolic links resolved; undefined if it is not installed. */
function programOf(
  id: string,
  setup: AgentSetup,
  settings: AgentSettings,
  { environment }: ProbeContext,
): InstalledFile | undefined {
  const { PATH = '' } = agentEnvironment(setup, environment, settings.env ?? {})
  const { program } = locate(id, setup, settings, PATH)
  if (program === undefined) return undefined
  try {
    const path = realpathSync(program)
    const { mtimeMs, size } = statSync(path)
    return { path, modifiedMs: mtimeMs, bytes: size }
  } catch {
    // Removed since it was found: the start will report it.
    return undefined
  }
}

const Manifest = z.object({ name: z.string(), version: z.string() })

/** The maximum depth of a program below its package folder. */
const MAX_DEPTH = 4

/** The version in the manifest of the npm package that contains the file. */
function manifestVersion(path: string): string | undefined {
  let folder = dirname(path)
  for (let depth = 0; depth < MAX_DEPTH && isInPackage(folder); depth++) {
    const manifest = manifestIn(folder)
    if (manifest) return folder.endsWith(join('node_modules', manifest.name)) ? manifest.version : undefined
    folder = dirname(folder)
  }
  return undefined
}

function isInPackage(folder: string): boolean {
  return folder.includes(`${join('/', 'node_modules')}/`) && basename(folder) !== 'node_modules'
}

function manifestIn(folder: string): z.infer<typeof Manifest> | undefined {
  try {
    return Manifest.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')))
  } catch {
    // Not a package folder, or a package without a version.
    return undefined
  }
}
