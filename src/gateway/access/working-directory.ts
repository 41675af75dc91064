import { isAbsolute } from 'node:path'
import { toMainstemError } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { directoryBelow } from './roots.ts'

/**
 * Returns the real path of a directory below the roots of this server. A directory that another node may have is
 * returned as it was given: that node resolves and checks it.
 */
export async function workingDirectory(
  { roots, cluster }: Pick<GatewayDeps, 'roots' | 'cluster'>,
  directory: string,
  field?: string,
): Promise<string> {
  try {
    return await directoryBelow(roots, directory, field)
  } catch (thrown) {
    const isElsewhere =
      toMainstemError(thrown).code === 'forbidden' &&
      isAbsolute(directory) &&
      (await cluster.hasPlace(directory))
    if (isElsewhere) return directory
    throw thrown
  }
}
