import type { AgentSetup } from '../agents/setup.ts'
import type { Timers } from '../drivers/driver.ts'
import { findProgram } from '../drivers/find-program.ts'
import { toMainstemError } from '../model/index.ts'
import type { AgentSettings } from '../sessions/deps.ts'
import type { Environment } from './paths.ts'
import { askVersion, type Told } from './program-version.ts'

/** What starting a program for its version takes from outside. */
export interface Around {
  environment: Environment
  platform: string
  timers: Timers
  /** Ends a program that was started for its version. */
  signal: AbortSignal
}

/** An absolute path, or why there is none and what to do about it. */
export interface Located {
  program?: string
  note?: string
  fix?: string
}

/** Finds an agent's program the way the driver finds it. */
export function locate(id: string, setup: AgentSetup, settings: AgentSettings, path: string): Located {
  const [configured] = settings.command ?? []
  const name = configured ?? setup.program
  if (name === undefined)
    return { note: `its command has to be set in the configuration: agents.${id}.command` }
  try {
    return { program: findProgram(name, path) }
  } catch (thrown) {
    // Installing something would not help against what the configuration says.
    if (configured === undefined)
      return { note: `${name} is not in PATH`, ...(setup.install !== undefined && { fix: setup.install }) }
    return { note: `configuration: agents.${id}.command: ${toMainstemError(thrown).message}` }
  }
}

/** Asks the program for its version. A configured command with arguments may start anything, so it is not run. */
export async function askAgent(
  program: string,
  { version, credentials = [] }: AgentSetup,
  { command = [], env = {} }: AgentSettings,
  around: Around,
): Promise<Told> {
  if (!version || around.signal.aborted) return {}
  if (command.length > 1)
    return { note: 'its configured command has arguments, so its version was not asked' }
  const isKey = (name: string) =>
    credentials.some((source) => source.kind === 'variable' && source.name === name)
  const harmless = Object.entries(env).filter(([name]) => !isKey(name))
  return askVersion({ program, question: version, env: Object.fromEntries(harmless), ...around })
}
