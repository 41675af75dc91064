import type { NewSession } from '../../model/session/new-session.ts'

/** The directories that a node must have to run a new session. */
export function directoriesOf({ cwd, options }: Pick<NewSession, 'cwd' | 'options'>): string[] {
  return [cwd, ...(options?.extraDirectories ?? [])]
}

/** Resolves the directories of a new session on the node that is to run it; `directory` refuses those it does not have. */
export async function withDirectories(
  request: NewSession,
  directory: (path: string, field?: string) => Promise<string>,
): Promise<NewSession> {
  const { cwd, options } = request
  const real = { ...request, cwd: await directory(cwd) }
  if (!options?.extraDirectories) return real
  const extraDirectories = await Promise.all(
    options.extraDirectories.map((path) => directory(path, 'options.extraDirectories')),
  )
  return { ...real, options: { ...options, extraDirectories } }
}
