import type { AgentSetup } from '../agents/setup.ts'
import type { Timers } from '../drivers/driver.ts'
import { findProgram } from '../drivers/process/find-program.ts'
import { toMainstemError } from '../model/index.ts'
import type { AgentSettings } from '../sessions/deps.ts'
import type { Environment } from './paths.ts'
import { askVersion, type VersionAnswer } from './program-version.ts'

/** The dependencies for starting a program to query its version. */
export interface ProbeContext {
  environment: Environment
  platform: string
  timers: Timers
  /** Aborting it stops a program that was started for its version. */
  signal: AbortSignal
}

/** An absolute path, or why there is none and how to fix it. */
export interface Located {
  program?: string
  note?: string
  fix?: string
  /** The program is there and cannot run. */
  broken?: boolean
}

/** Finds an agent's program in the same way as the driver. */
export function locate(id: string, setup: AgentSetup, settings: AgentSettings, path: string): Located {
  const [configured] = settings.command ?? []
  const name = configured ?? setup.program
  if (name === undefined) return { note: `set its command in the configuration: agents.${id}.command` }
  try {
    return { program: findProgram(name, path) }
  } catch (thrown) {
    const { code, message, details } = toMainstemError(thrown)
    const isConfigured = configured !== undefined
    const note = isConfigured ? `configuration: agents.${id}.command: ${message}` : message
    if (code === 'agent_not_ready') return { note, broken: true, ...withFix(details?.advice) }
    // Installing the agent does not fix a wrong configuration.
    return { note, ...withFix(isConfigured ? undefined : setup.install) }
  }
}

function withFix(fix: unknown): { fix?: string } {
  return typeof fix === 'string' ? { fix } : {}
}

/** Queries the version of the program. A configured command with arguments may start anything, so it is not run. */
export async function askAgent(
  program: string,
  { version, credentials = [] }: AgentSetup,
  { command = [], env = {} }: AgentSettings,
  context: ProbeContext,
): Promise<VersionAnswer> {
  if (!version || context.signal.aborted) return {}
  if (command.length > 1)
    return { note: 'its configured command has arguments, so its version was not queried' }
  const isKey = (name: string) =>
    credentials.some((source) => source.kind === 'variable' && source.name === name)
  const harmless = Object.entries(env).filter(([name]) => !isKey(name))
  return askVersion({ program, question: version, env: Object.fromEntries(harmless), ...context })
}
