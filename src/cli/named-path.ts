import { type FileHandle, open, readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { codeOf, MainstemError } from '../model/outcome/mainstem-error.ts'

const DIRECTORY = ['is a directory', 'Name a file.'] as const

const REASONS: Readonly<Record<string, readonly [what: string, advice: string]>> = {
  ENOENT: ['does not exist', 'Check the path.'],
  ENOTDIR: ['does not exist', 'Check the path.'],
  EISDIR: DIRECTORY,
  EACCES: ['may not be read', 'Check its permissions.'],
  EPERM: ['may not be read', 'Check its permissions.'],
}

/** The error of a path on the command line, such as `--schema: x.json does not exist`. */
function pathFailure(path: string, cause: unknown, option?: string): MainstemError {
  const [what, advice] = REASONS[String(codeOf(cause))] ?? [`cannot be used: ${cause}`, 'Check the path.']
  const lead = option === undefined ? '' : `${option}: `
  return new MainstemError('invalid_request', `${lead}${path} ${what}`, { advice }, { cause })
}

/** Opens a file that the command line names. Opening a directory succeeds, so it is checked. */
export async function openNamed(file: string): Promise<FileHandle> {
  try {
    const handle = await open(file)
    if (!(await handle.stat()).isDirectory()) return handle
    await handle.close()
  } catch (thrown) {
    throw pathFailure(file, thrown)
  }
  const [what, advice] = DIRECTORY
  throw new MainstemError('invalid_request', `${file} ${what}`, { advice })
}

/** Reads a file that the command line names. */
export async function readNamed(file: string, option?: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (thrown) {
    throw pathFailure(file, thrown, option)
  }
}

/** The directory that `--cwd` names. Checked here, because a server does not tell what is outside of its roots. */
export async function workingDirectory(cwd: string): Promise<string> {
  const path = resolve(cwd)
  let isDirectory: boolean
  try {
    isDirectory = (await stat(path)).isDirectory()
  } catch (thrown) {
    throw pathFailure(path, thrown, '--cwd')
  }
  if (isDirectory) return path
  throw new MainstemError('invalid_request', `--cwd: ${path} is not a directory`, {
    advice: 'Name the directory where the agent should work.',
  })
}

/** The error of a command in a directory that was deleted; otherwise what was thrown. */
export function deletedDirectory(thrown: unknown): unknown {
  if (!(thrown instanceof Error && 'syscall' in thrown && thrown.syscall === 'uv_cwd')) return thrown
  return new MainstemError(
    'invalid_request',
    'the current directory was deleted',
    { advice: 'Change to another directory.' },
    { cause: thrown },
  )
}
