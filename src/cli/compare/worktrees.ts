import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, realpath, rmdir } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'

const run = promisify(execFile)

/** A worktree that was made for one agent. It is kept. */
export interface Worktree {
  path: string
  branch: string
  /** The commit that it began at. */
  base: string
  /** The directory in it that corresponds to the one that the agents were to work in. */
  cwd: string
}

export interface Worktrees {
  trees: Worktree[]
  /** Uncommitted changes of the user, which are not in them. */
  uncommitted: number
  /** Removes unchanged worktrees after a failed start. */
  discard(): Promise<void>
}

/** Creates a worktree and a branch for each label, in a folder beside the repository. */
export async function addWorktrees(cwd: string, labels: readonly string[]): Promise<Worktrees> {
  const root = (await git(cwd, 'rev-parse', '--show-toplevel')).trim()
  const base = (await git(cwd, 'rev-parse', '--verify', 'HEAD')).trim()
  const changes = linesOf(await git(cwd, 'status', '--porcelain'))
  const inside = relative(root, await realpath(cwd))
  const name = randomBytes(3).toString('hex')
  const folder = join(dirname(root), `${basename(root)}-compare-${name}`)
  await mkdir(folder)
  const trees: Worktree[] = []
  const discard = async () => {
    // Without force: git refuses to remove a worktree with changes.
    for (const { path, branch } of trees) {
      await git(root, 'worktree', 'remove', path)
      await git(root, 'branch', '-d', branch)
    }
    await rmdir(folder)
  }
  try {
    for (const label of labels) {
      const slug = label.replace(/[^\w.-]+/g, '-')
      const [path, branch] = [join(folder, slug), `compare-${name}/${slug}`]
      await git(root, 'worktree', 'add', '--quiet', '-b', branch, path, base)
      trees.push({ path, branch, base, cwd: join(path, inside) })
    }
  } catch (thrown) {
    await discard()
    throw thrown
  }
  return { trees, uncommitted: changes.length, discard }
}

/** What differs from the commit that the worktree began at: committed, uncommitted and new files. */
export async function changedFiles({ path, base }: Worktree): Promise<string[]> {
  const changed = await git(path, 'diff', '--name-only', '-z', base)
  const added = await git(path, 'ls-files', '--others', '--exclude-standard', '-z')
  return [...new Set([...changed.split('\0'), ...added.split('\0')])].filter((file) => file !== '').sort()
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '')
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
