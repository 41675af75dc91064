import { randomBytes } from 'node:crypto'
import { link } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, privateDirectory, readPrivate, unsafe, withDraft } from './private-file.ts'

export interface TokenFile {
  path: string
  token: string
}

/** 256 bits, and how they look as base64url. */
const TOKEN_BYTES = 32
const TOKEN = /^[A-Za-z0-9_-]{43,}$/

export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

/** The token of this data directory, made at the first start. Refused where somebody else could have put it. */
export async function tokenIn(directory: string): Promise<TokenFile> {
  await privateDirectory(directory)
  const path = join(directory, 'token')
  const token = (await readToken(path)) ?? (await makeToken(path))
  return { path, token }
}

async function readToken(path: string): Promise<string | undefined> {
  const token = (await readPrivate(path))?.trim()
  if (token !== undefined && !TOKEN.test(token))
    throw unsafe(path, 'holds no token of at least 256 bits; remove it to get a new one')
  return token
}

/** When two servers start together, one of them wins. */
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
