import { constants } from 'node:fs'
import { access, lstat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf, MainstemError } from '../model/outcome/mainstem-error.ts'

/** What to do about a full disk. */
export const FREE_SPACE = 'Free space, or name a data directory on another disk with --data.'

/** What to do about a place where nothing can be written. */
export const OTHER_PLACE = 'Name a data directory that you can write to with --data or MAINSTEM_DATA.'

const FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT'])

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'is not writable for you',
  EPERM: 'is not writable for you',
  EROFS: 'is on a read-only file system',
  ENOTDIR: 'is not a directory',
}

/** Failures that the place of a file explains. Node reports a read-only file system as a missing directory. */
const PLACE: ReadonlySet<unknown> = new Set(['ENOENT', ...Object.keys(REASONS)])

/** The beginning of a path that exists. */
export async function existingPart(path: string): Promise<string> {
  try {
    await lstat(path)
    return path
  } catch {
    // Missing, inaccessible or too long.
    return dirname(path) === path ? path : existingPart(dirname(path))
  }
}

/** Why nothing can be written in a directory, or why it cannot be created; undefined if the system allows it. */
export async function whyUnwritable(directory: string): Promise<string | undefined> {
  const place = await existingPart(directory)
  try {
    await access(`${place}/.`, constants.W_OK | constants.X_OK)
    return undefined
  } catch (thrown) {
    const code = String(codeOf(thrown))
    return `${place} ${REASONS[code] ?? `cannot be used (${code})`}`
  }
}

/** Converts the failure to write a file in a data directory, or to create the directory. */
export async function writeFailure(path: string, cause: unknown): Promise<unknown> {
  const code = codeOf(cause)
  if (FULL.has(code)) return failure(path, 'the disk is full', FREE_SPACE, cause)
  if (code === 'ENAMETOOLONG') return failure(path, 'the path is too long', OTHER_PLACE, cause)
  if (!PLACE.has(code)) return cause
  return failure(path, (await whyUnwritable(dirname(path))) ?? String(code), OTHER_PLACE, cause)
}

function failure(path: string, why: string, advice: string, cause: unknown): MainstemError {
  return new MainstemError('storage_failed', `${path} cannot be written: ${why}`, { advice }, { cause })
}
