import { randomBytes } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { type FileHandle, link, lstat, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { MainstemError } from '../model/index.ts'

export interface TokenFile {
  path: string
  token: string
}

/** 256 bits, and how they look as base64url. */
const TOKEN_BYTES = 32
const TOKEN = /^[A-Za-z0-9_-]{43,}$/

const OTHERS_MAY_WRITE = 0o022
const OTHERS_MAY_ANYTHING = 0o077

/** The token of this data directory, made at the first start. Refused where somebody else could have put it. */
export async function tokenIn(directory: string): Promise<TokenFile> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const stats = await lstat(directory)
  if (!stats.isDirectory()) throw unsafe(directory, 'is not a directory')
  checkOwner(directory, stats, OTHERS_MAY_WRITE)
  const path = join(directory, 'token')
  const token = (await readToken(path)) ?? (await makeToken(path))
  return { path, token }
}

async function readToken(path: string): Promise<string | undefined> {
  const file = await openToken(path)
  if (!file) return undefined
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw unsafe(path, 'is not a file')
    checkOwner(path, stats, OTHERS_MAY_ANYTHING)
    const token = (await file.readFile('utf8')).trim()
    if (!TOKEN.test(token))
      throw unsafe(path, 'holds no token of at least 256 bits; remove it to get a new one')
    return token
  } finally {
    await file.close()
  }
}

/** Without blocking on a pipe or following a link that somebody left there. */
async function openToken(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (thrown) {
    const code = codeOf(thrown)
    if (code === 'ENOENT') return undefined
    if (code === 'ELOOP') throw unsafe(path, 'is a symbolic link')
    throw thrown
  }
}

/** Appears whole or not at all; when two servers start together, one of them wins. */
async function makeToken(path: string): Promise<string> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  const draft = `${path}.${randomBytes(8).toString('hex')}`
  const file = await open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
  try {
    await file.writeFile(`${token}\n`)
    await file.sync()
    await link(draft, path)
    return token
  } catch (thrown) {
    const won = codeOf(thrown) === 'EEXIST' ? await readToken(path) : undefined
    if (won === undefined) throw thrown
    return won
  } finally {
    await file.close()
    await rm(draft)
  }
}

function checkOwner(path: string, stats: Stats, forbidden: number): void {
  const us = process.getuid?.()
  if (us !== undefined && stats.uid !== us) throw unsafe(path, 'belongs to another user')
  if ((stats.mode & forbidden) !== 0) {
    const wanted = stats.isDirectory() ? '700' : '600'
    throw unsafe(path, `is open to other users; run: chmod ${wanted} ${path}`)
  }
}

function unsafe(path: string, why: string): MainstemError {
  return new MainstemError('forbidden', `${path} ${why}`)
}

function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
}
