import { rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { systemTimers } from '../compose/clock.ts'
import { LOCAL, type Token, tokenOf } from '../gateway/http/auth.ts'
import { MainstemError } from '../model/index.ts'
import { tryLock } from '../stores/sqlite/lock.ts'
import { codeOf, privateDirectory, readPrivate, unsafe, withDraft } from './private-file.ts'
import { newToken } from './token.ts'

const Name = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/)

/** Digests alone: a token is shown once, when it is made. */
const TokensFile = z.strictObject({
  tokens: z.array(z.strictObject({ name: Name, digest: z.string().regex(/^[0-9a-f]{64}$/) })),
})
type TokensFile = z.infer<typeof TokensFile>

const NEVER = new AbortController().signal

const fileIn = (data: string) => join(data, 'tokens.json')

/** Makes a token for a new principal. */
export async function addToken(data: string, name: string): Promise<string> {
  if (!Name.safeParse(name).success) {
    throw new MainstemError('invalid_request', `${name}: a name has small letters, digits, "-" and "_" only`)
  }
  await privateDirectory(data)
  return alone(data, async () => {
    const { tokens } = await read(data)
    if (name === LOCAL || tokens.some((one) => one.name === name)) {
      throw new MainstemError('conflict', `there is a token ${name} already`)
    }
    const token = newToken()
    await write(data, { tokens: [...tokens, { name, digest: tokenOf(name, token).digest }] })
    return token
  })
}

/** The principals that have a token, the first token's among them. */
export async function tokenNames(data: string): Promise<string[]> {
  const { tokens } = await read(data)
  return [LOCAL, ...tokens.map(({ name }) => name)]
}

/** From now on the token is worth nothing; what belongs to its principal stays. */
export async function removeToken(data: string, name: string): Promise<void> {
  if (name === LOCAL) {
    throw new MainstemError('invalid_request', `${LOCAL} is the first token; remove its file to get another`)
  }
  await privateDirectory(data)
  await alone(data, async () => {
    const { tokens } = await read(data)
    const left = tokens.filter((one) => one.name !== name)
    if (left.length === tokens.length) throw new MainstemError('not_found', `there is no token ${name}`)
    await write(data, { tokens: left })
  })
}

const LOCK_TRIES = 400
const LOCK_WAIT_MS = 25

/** One change at a time, also of other processes: each is made to what the one before it left. */
async function alone<T>(data: string, change: () => Promise<T>): Promise<T> {
  const path = join(data, 'tokens.lock')
  let lock = tryLock(path)
  for (let tries = 1; !lock && tries < LOCK_TRIES; tries++) {
    await systemTimers.sleep(LOCK_WAIT_MS, NEVER)
    lock = tryLock(path)
  }
  if (!lock) throw new MainstemError('conflict', 'another process is changing the tokens')
  using _ = lock
  return await change()
}

/**
 * All tokens as they are now: what is added or removed while a server runs counts with the next request. Callers of a
 * list that cannot be read get an error without its path; `report` gets the reason, once for each version of the file.
 */
export function tokenSource(
  data: string,
  first: string,
  report: (thrown: unknown) => void,
): () => Promise<readonly Token[]> {
  const local = tokenOf(LOCAL, first)
  let known: { version: string; tokens: readonly Token[] } | undefined
  let unreadable: string | undefined
  return async () => {
    const version = await versionOf(fileIn(data))
    if (known?.version !== version) {
      const { tokens } = await read(data).catch((thrown: unknown) => {
        if (unreadable !== version) report(thrown)
        unreadable = version
        throw new MainstemError(
          'storage_failed',
          'the tokens of this server cannot be read; the log of the server has the reason',
        )
      })
      unreadable = undefined
      known = { version, tokens: [local, ...tokens.map(({ name, digest }) => ({ principal: name, digest }))] }
    }
    return known.tokens
  }
}

/** Every change puts another file in the place. */
async function versionOf(path: string): Promise<string> {
  try {
    const { ino, mtimeNs, size } = await stat(path, { bigint: true })
    return `${ino} ${mtimeNs} ${size}`
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return 'none'
    throw thrown
  }
}

async function read(data: string): Promise<TokensFile> {
  const path = fileIn(data)
  const text = await readPrivate(path)
  if (text === undefined) return { tokens: [] }
  try {
    return TokensFile.parse(JSON.parse(text))
  } catch {
    throw unsafe(path, 'is not a list of tokens; correct it or remove it')
  }
}

async function write(data: string, file: TokensFile): Promise<void> {
  const path = fileIn(data)
  await withDraft(path, `${JSON.stringify(file, null, 2)}\n`, (draft) => rename(draft, path))
}
