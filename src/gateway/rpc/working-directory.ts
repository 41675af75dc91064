import { homedir } from 'node:os'
import { join } from 'node:path'
import { MainstemError, toMainstemError } from '../../model/index.ts'
import { workingDirectory } from '../access/working-directory.ts'
import type { GatewayDeps } from '../deps.ts'

/**
 * Resolves the working directory of a client. The client may run on another machine, so `~` is the home directory of
 * this one.
 */
export async function workingDirectoryOf(deps: GatewayDeps, path: string): Promise<string> {
  const { projects } = deps
  const directory = Object.hasOwn(projects, path) ? (projects[path] ?? path) : atHome(path)
  try {
    return await workingDirectory(deps, directory, 'path')
  } catch (thrown) {
    if (toMainstemError(thrown).code !== 'forbidden') throw thrown
    throw new MainstemError('forbidden', `Path does not exist below the roots of this server: ${path}`, {
      field: 'path',
    })
  }
}

function atHome(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path
}
