import type { NewSession } from '../model/session/new-session.ts'
import { optionDirectories, withOptionDirectories } from '../model/session/option-directories.ts'
import type { Runnable } from '../sessions/deps.ts'
import type { RegisteredNode } from '../stores/nodes.ts'

/** A remote node is preferred only if it is less busy by this share of its processes, because routing costs time. */
const HOME_BONUS = 0.2

export interface Self {
  name: string
  mayRun(session: Runnable): boolean
}

/**
 * The live nodes that can run a session, best first: they have its labels and a root above its directory, and above
 * each of the other directories.
 */
export function candidates(
  session: Runnable,
  nodes: readonly RegisteredNode[],
  self: Self,
  others: readonly string[] = [],
): string[] {
  const { cwd, labels = [] } = session
  const able = nodes.filter((node) => {
    if (!node.live || node.draining || labels.some((label) => !node.labels.includes(label))) return false
    const has = (directory: string) => node.roots.some((root) => isBelow(root, directory))
    return others.every(has) && (node.name === self.name ? self.mayRun(session) : has(cwd))
  })
  const cost = ({ name, processes, maxProcesses }: RegisteredNode) =>
    processes / maxProcesses + (name === self.name ? 0 : HOME_BONUS)
  return able.sort((a, b) => cost(a) - cost(b)).map(({ name }) => name)
}

/** Compares names only: the node itself resolves links and checks that the directory exists. */
export function isBelow(root: string, directory: string): boolean {
  return directory === root || directory.startsWith(root.endsWith('/') ? root : `${root}/`)
}

/** The directories that a node must have to run a new session. */
export function directoriesOf({ cwd, options }: Pick<NewSession, 'cwd' | 'options'>): string[] {
  return [cwd, ...optionDirectories(options).map(({ directory }) => directory)]
}

/** Resolves the directories of a new session on the node that is to run it; `directory` refuses those it does not have. */
export async function withDirectories(
  request: NewSession,
  directory: (path: string, field?: string) => Promise<string>,
): Promise<NewSession> {
  const { cwd, options } = request
  const real = { ...request, cwd: await directory(cwd) }
  return options ? { ...real, options: await withOptionDirectories(options, directory) } : real
}
