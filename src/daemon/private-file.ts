import { randomBytes } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, rm } from 'node:fs/promises'
import { codeOf, MainstemError } from '../model/outcome/mainstem-error.ts'
import { writeFailure } from './write-failure.ts'

const OTHERS_MAY_WRITE = 0o022
const OTHERS_MAY_ANYTHING = 0o077

/** Creates or checks a directory that no other user can write to. */
export async function privateDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
  } catch (thrown) {
    // Something else has this path, which is reported below.
    if (codeOf(thrown) !== 'EEXIST') throw await writeFailure(directory, thrown)
  }
  const stats = await lstat(directory)
  if (!stats.isDirectory()) throw unsafe(directory, 'is not a directory', 'Name another with --data.')
  checkOwner(directory, stats, OTHERS_MAY_WRITE)
}

/** Reads a private file; undefined if there is none. Rejects a file that another user could have written. */
export async function readPrivate(path: string): Promise<string | undefined> {
  const file = await openPrivate(path)
  if (!file) return undefined
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw unsafe(path, 'is not a file', REPLACE)
    checkOwner(path, stats, OTHERS_MAY_ANYTHING)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

/**
 * Writes a draft next to the file and passes it to the callback, which moves it into place: the file appears complete
 * or not at all.
 */
export async function withDraft<T>(
  path: string,
  text: string,
  publish: (draft: string) => Promise<T>,
): Promise<T> {
  const draft = `${path}.${randomBytes(8).toString('hex')}`
  try {
    await using file = await open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
    await file.writeFile(text)
    await file.sync()
    return await publish(draft)
  } catch (thrown) {
    throw await writeFailure(path, thrown)
  } finally {
    await rm(draft, { force: true })
  }
}

/** Does not block on a pipe and does not follow a symbolic link. */
async function openPrivate(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (thrown) {
    const code = codeOf(thrown)
    if (code === 'ENOENT') return undefined
    if (code === 'ELOOP') throw unsafe(path, 'is a symbolic link', REPLACE)
    throw thrown
  }
}

function checkOwner(path: string, stats: Stats, forbidden: number): void {
  const us = process.getuid?.()
  if (us !== undefined && stats.uid !== us)
    throw unsafe(
      path,
      `belongs to another user (${stats.uid})`,
      `Name another directory with --data, or run: sudo chown -R ${us} ${path}`,
    )
  if ((stats.mode & forbidden) !== 0) {
    const wanted = stats.isDirectory() ? '700' : '600'
    throw unsafe(path, 'is open to other users', `Run: chmod ${wanted} ${path}`)
  }
}

const REPLACE = 'Delete it; the server creates it again.'

/** A file of the server that its owner has to correct first. */
export function unsafe(path: string, why: string, advice: string): MainstemError {
  return new MainstemError('forbidden', `${path} ${why}`, { advice })
}
