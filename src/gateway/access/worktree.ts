import { execFile } from 'node:child_process'
import { mkdir, rmdir } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { codeOf, MainstemError } from '../../model/outcome/mainstem-error.ts'
import { directoryBelow } from './roots.ts'

/** A checkout of a large repository takes seconds; after this time, git waits for something that does not come. */
const GIT_MS = 60_000
/** No hooks and no file monitor, because they are programs that the repository names. */
const WITHOUT_PROGRAMS = ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false']

const run = promisify(execFile)

/** A git worktree that was made for one session, and outlives it. */
export interface SessionWorktree {
  /** The directory in it that corresponds to the one that the session was to work in. */
  cwd: string
  /** Removes it with its branch. Fails if something in it has changed. */
  discard(): Promise<void>
}

/**
 * Creates a worktree with a new branch, at the last commit of the repository around `cwd`. Its folder is beside the
 * repository, has the names of both, and is below the roots.
 */
export async function addWorktree(
  roots: readonly string[],
  cwd: string,
  branch: string,
): Promise<SessionWorktree> {
  const directory = await directoryBelow(roots, cwd)
  const git = (...args: readonly string[]) => gitIn(directory, args)
  const root = await git('rev-parse', '--show-toplevel')
  const path = `${root}-${branch}`
  const folder = dirname(path)
  await checkPlace(roots, path, dirname(root))
  await mkdir(folder, { recursive: true })
  // A symbolic link would lead the checkout elsewhere.
  if ((await directoryBelow(roots, folder)) !== folder) throw outside(path)
  await afterOthers(root, () => git('worktree', 'add', '--quiet', '-b', branch, path, 'HEAD'))
  return {
    cwd: join(path, relative(root, directory)),
    async discard() {
      // Without force: git refuses to remove a worktree with changes.
      await git('worktree', 'remove', path)
      await git('branch', '--delete', branch)
      if (folder !== dirname(root)) await removeEmpty(folder)
    },
  }
}

/** The last addition to each repository that is being changed. */
const additions = new Map<string, Promise<unknown>>()

/** While git adds a worktree it reads all others, and fails at one that another git has not written completely. */
async function afterOthers(repository: string, add: () => Promise<unknown>): Promise<void> {
  const added = Promise.allSettled([additions.get(repository)]).then(add)
  additions.set(repository, added)
  try {
    await added
  } finally {
    if (additions.get(repository) === added) additions.delete(repository)
  }
}

async function checkPlace(roots: readonly string[], path: string, parent: string): Promise<void> {
  try {
    await directoryBelow(roots, parent)
  } catch (cause) {
    throw outside(path, cause)
  }
}

function outside(path: string, cause?: unknown): MainstemError {
  return new MainstemError(
    'forbidden',
    `worktree: ${path} would not be below the configured roots`,
    {
      field: 'worktree',
      advice: 'Have the operator add the folder around the repository to `roots`, or leave out the worktree.',
    },
    { cause },
  )
}

/** Another session may have a worktree in the folder. */
async function removeEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder)
  } catch (thrown) {
    if (codeOf(thrown) !== 'ENOTEMPTY') throw thrown
  }
}

async function gitIn(cwd: string, args: readonly string[]): Promise<string> {
  const { PATH, HOME } = process.env
  const env = { PATH, HOME, GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' }
  try {
    const { stdout } = await run('git', ['-C', cwd, ...WITHOUT_PROGRAMS, ...args], { env, timeout: GIT_MS })
    return stdout.trim()
  } catch (cause) {
    const said = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : ''
    const why = said || (cause instanceof Error ? cause.message : String(cause))
    throw new MainstemError(
      'invalid_request',
      `worktree: git ${args[0]} failed: ${why}`,
      { field: 'worktree', advice: 'Name a new branch, for a directory in a git repository with a commit.' },
      { cause },
    )
  }
}
