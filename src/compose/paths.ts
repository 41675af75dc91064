import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

export type Environment = Readonly<Record<string, string | undefined>>

export interface Paths {
  /** The configuration that is read when none is named. */
  config: string
  /** The token, and what the store keeps. */
  data: string
}

/** Where things are by default: the XDG directories, or all in `MAINSTEM_HOME`. */
export function defaultPaths(environment: Environment, home: string = homedir()): Paths {
  const own = environment.MAINSTEM_HOME
  if (own) return { config: join(own, 'config.json'), data: own }
  const base = (name: string, fallback: string) => {
    const set = environment[name]
    // The XDG rules: a relative path is to be ignored.
    return join(set && isAbsolute(set) ? set : join(home, fallback), 'mainstem')
  }
  return {
    config: join(base('XDG_CONFIG_HOME', '.config'), 'config.json'),
    data: base('XDG_DATA_HOME', '.local/share'),
  }
}
