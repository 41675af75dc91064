import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

export type Environment = Readonly<Record<string, string | undefined>>

export interface Paths {
  /** The default configuration file. */
  config: string
  /** The directory of the token and the store. */
  data: string
}

/** The default locations: the XDG directories, or `MAINSTEM_HOME` for all of them. */
export function defaultPaths(environment: Environment, home: string = homedir()): Paths {
  const own = environment.MAINSTEM_HOME
  if (own) return { config: join(own, 'config.json'), data: own }
  const base = (name: string, fallback: string) => {
    const set = environment[name]
    // The XDG specification ignores relative paths.
    return join(set && isAbsolute(set) ? set : join(home, fallback), 'mainstem')
  }
  return {
    config: join(base('XDG_CONFIG_HOME', '.config'), 'config.json'),
    data: base('XDG_DATA_HOME', '.local/share'),
  }
}
