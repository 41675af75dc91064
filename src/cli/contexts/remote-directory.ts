import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import type { ServerInfo } from '../../client/server-types.ts'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import type { ConnectedServer } from './connect.ts'
import type { Context } from './contexts.ts'

/**
 * The directory that `--cwd` names on another machine: an absolute path there, or one below the root of the server.
 * Without it, the server chooses.
 */
export function remoteDirectory(remote: Context, info: ServerInfo, cwd: string | undefined): string {
  if (cwd === undefined) return info.cwd
  if (posix.isAbsolute(cwd)) return cwd
  const [root, another] = info.roots
  if (root !== undefined && another === undefined) return posix.join(root, cwd)
  throw new MainstemError('invalid_request', `--cwd: ${cwd} may be below ${info.roots.join(' or ')}`, {
    advice: `Give the whole path of a directory on ${remote.server}.`,
  })
}

/** Explains a directory that the server refuses: people often name one of their own machine. */
export function refusedDirectory(
  { remote, info }: Partial<ConnectedServer>,
  cwd: string | undefined,
  thrown: unknown,
): unknown {
  const isDirectory = thrown instanceof MainstemError && thrown.details?.field === 'cwd'
  if (!remote || !info || !isDirectory) return thrown
  const path = remoteDirectory(remote, info, cwd)
  const here = cwd !== undefined && existsSync(cwd) ? `; it exists on this machine, where no agent runs` : ''
  return new MainstemError(
    thrown.code,
    `--cwd: ${path} is not a directory that ${remote.server} allows${here}`,
    {
      advice:
        `Name a directory on the server, below ${info.roots.join(' or ')}, ` +
        'or pass `--context local` to work on this machine.',
    },
    { cause: thrown },
  )
}
