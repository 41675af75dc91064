import { access } from 'node:fs/promises'
import { resolve } from 'node:path'
import { defaultPaths, type Environment } from '../../compose/paths.ts'

export interface LocalFlags {
  data?: string | undefined
  config?: string | undefined
}

/** The options that locate the server: its data directory, and whether it needs a token. */
export interface LocalPlace {
  data: string
  auth: boolean
}

/** The data directory. The configuration is loaded only where a file exists, because loading takes a while. */
export async function localPlace(
  flags: LocalFlags,
  environment: Environment,
  cwd: string,
): Promise<LocalPlace> {
  const defaults = defaultPaths(environment)
  const named = flags.config ?? environment.MAINSTEM_CONFIG
  if (named || (await exists(defaults.config))) {
    const { loadConfig } = await import('../../daemon/config.ts')
    return loadConfig({ flags: placeFlags(flags), environment, cwd })
  }
  return { data: resolve(cwd, flags.data ?? (environment.MAINSTEM_DATA || defaults.data)), auth: true }
}

const PATH_VARIABLES = ['MAINSTEM_HOME', 'MAINSTEM_CONFIG', 'MAINSTEM_DATA', 'MAINSTEM_CWD'] as const

/** The options and variables with absolute paths, for a server that works in another directory. */
export function absolutePaths(
  flags: LocalFlags,
  environment: Environment,
  cwd: string,
): { flags: { data?: string; config?: string }; environment: Environment } {
  const given = PATH_VARIABLES.flatMap((name) => {
    const value = environment[name]
    return value ? [[name, resolve(cwd, value)] as const] : []
  })
  const { data, config } = flags
  return {
    flags: {
      ...(data !== undefined && { data: resolve(cwd, data) }),
      ...(config !== undefined && { config: resolve(cwd, config) }),
    },
    environment: { ...environment, ...Object.fromEntries(given) },
  }
}

/** Commands have more options than these. */
export function placeFlags({ data, config }: LocalFlags): { data?: string; config?: string } {
  return { ...(data !== undefined && { data }), ...(config !== undefined && { config }) }
}

export async function exists(file: string): Promise<boolean> {
  try {
    await access(file)
    return true
  } catch {
    return false
  }
}
