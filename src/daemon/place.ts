import { realpath } from 'node:fs/promises'
import { directoryBelow } from '../gateway/access/roots.ts'
import { MainstemError } from '../model/index.ts'
import type { Config } from './config.ts'
import { checkExposure } from './exposure.ts'

/** The real directories of a configuration. */
export interface Place {
  roots: string[]
  cwd: string
  projects: Record<string, string>
}

/** Checks a valid configuration on this machine. Throws the error with which a server would refuse to start. */
export async function checkPlace(config: Config): Promise<Place> {
  checkExposure(config)
  const roots = await Promise.all(config.roots.map(realRoot))
  const cwd = await directoryBelow(roots, config.cwd, 'configuration: cwd')
  return { roots, cwd, projects: await realProjects(roots, config.projects) }
}

/** Without `roots`, the directory of `--cwd` is the only root. */
const ROOTS = 'Create it, or correct `roots` or --cwd.'

async function realRoot(root: string): Promise<string> {
  try {
    return await realpath(root)
  } catch (cause) {
    const message = `configuration: roots: no such directory ${root}`
    throw new MainstemError('invalid_request', message, { advice: ROOTS }, { cause })
  }
}

/** Reports an unusable project directory at start, not at its first use. */
async function realProjects(
  roots: readonly string[],
  projects: Config['projects'],
): Promise<Record<string, string>> {
  const real = Object.entries(projects).map(async ([id, directory]) => [
    id,
    await directoryBelow(roots, directory, `configuration: projects.${id}`),
  ])
  return Object.fromEntries(await Promise.all(real))
}
