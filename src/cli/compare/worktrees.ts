import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'

const run = promisify(execFile)

/** The repository that the agents of a comparison work on. */
export interface Repository {
  /** The last commit, which their worktrees begin at. */
  base: string
  /** Uncommitted changes of the user, which are not in the worktrees. */
  uncommitted: number
}

/** The worktree of one agent. It is kept. */
export interface Worktree {
  path: string
  branch: string
  /** The commit that it began at. */
  base: string
}

/** The repository around a directory. */
export async function repositoryOf(cwd: string): Promise<Repository> {
  const base = (await git(cwd, 'rev-parse', '--verify', 'HEAD')).trim()
  const changes = (await git(cwd, 'status', '--porcelain')).split('\n')
  return { base, uncommitted: changes.filter((line) => line !== '').length }
}

/** New branches for the worktrees of one comparison. */
export function branchesFor(labels: readonly string[]): string[] {
  const name = randomBytes(3).toString('hex')
  return labels.map((label) => `compare-${name}/${label.replace(/[^\w.-]+/g, '-')}`)
}

/** The worktree around the directory of a session. */
export async function worktreeOf(cwd: string, branch: string, { base }: Repository): Promise<Worktree> {
  const path = (await git(cwd, 'rev-parse', '--show-toplevel')).trim()
  return { path, branch, base }
}

/** Removes the worktrees of a comparison, in which nothing has changed, and their folder. Without force: git refuses others. */
export async function removeWorktrees(repository: string, trees: readonly Worktree[]): Promise<void> {
  for (const { path, branch } of trees) {
    await git(repository, 'worktree', 'remove', path)
    await git(repository, 'branch', '-d', branch)
  }
  const [first] = trees
  if (first) await rmdir(dirname(first.path))
}

/** What differs from the commit that the worktree began at: committed, uncommitted and new files. */
export async function changedFiles({ path, base }: Worktree): Promise<string[]> {
  const changed = await git(path, 'diff', '--name-only', '-z', base)
  const added = await git(path, 'ls-files', '--others', '--exclude-standard', '-z')
  return [...new Set([...changed.split('\0'), ...added.split('\0')])].filter((file) => file !== '').sort()
}

async function git(cwd: string, ...args: readonly string[]): Promise<string> {
  try {
    return (await run('git', ['-C', cwd, ...args], { maxBuffer: 64 * 1024 * 1024 })).stdout
  } catch (cause) {
    const said = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : ''
    const why = said || (cause instanceof Error ? cause.message : String(cause))
    throw new MainstemError(
      'invalid_request',
      `--worktree: git ${args[0]} failed: ${why}`,
      { advice: 'Run it in a git repository with a commit, or leave out --worktree.' },
      { cause },
    )
  }
}
