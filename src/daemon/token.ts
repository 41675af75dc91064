import { randomBytes } from 'node:crypto'
import { link } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../model/outcome/mainstem-error.ts'
import { privateDirectory, readPrivate, unsafe, withDraft } from './private-file.ts'

export interface TokenFile {
  path: string
  token: string
}

/** 256 bits, and their base64url form. */
const TOKEN_BYTES = 32
const TOKEN = /^[A-Za-z0-9_-]{43,}$/

export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

/** The file that has the token of a data directory. */
export const tokenPath = (directory: string): string => join(directory, 'token')

/**
 * The token of this data directory, created at the first start. Rejects a file that another user could have written.
 */
export async function tokenIn(directory: string): Promise<TokenFile> {
  await privateDirectory(directory)
  const path = tokenPath(directory)
  const token = (await readToken(path)) ?? (await makeToken(path))
  return { path, token }
}

async function readToken(path: string): Promise<string | undefined> {
  const token = (await readPrivate(path))?.trim()
  if (token !== undefined && !TOKEN.test(token))
    throw unsafe(path, 'contains no token of at least 256 bits', 'Delete it; the next start creates a token.')
  return token
}

/** If two servers start together, one of them wins. */
async function makeToken(path: string): Promise<string> {
  const token = newToken()
  try {
    await withDraft(path, `${token}\n`, (draft) => link(draft, path))
    return token
  } catch (thrown) {
    const won = codeOf(thrown) === 'EEXIST' ? await readToken(path) : undefined
    if (won === undefined) throw thrown
    return won
  }
}
