import { rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { systemTimers } from '../compose/clock.ts'
import { LOCAL, type Token, tokenOf } from '../gateway/http/auth.ts'
import type { LoginStore } from '../gateway/v1/logins.ts'
import type { Role } from '../model/access.ts'
import { MainstemError } from '../model/index.ts'
import { codeOf } from '../model/outcome/mainstem-error.ts'
import { tryLock } from '../stores/sqlite/lock.ts'
import { privateDirectory, readPrivate, unsafe, withDraft } from './private-file.ts'
import { newToken } from './token.ts'

const Name = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/)

/** Digests only: a token is shown once, when it is created. */
const TokensFile = z.strictObject({
  tokens: z.array(
    z.strictObject({
      name: Name,
      digest: z.string().regex(/^[0-9a-f]{64}$/),
      login: z.strictObject({ name: z.string(), createdAt: z.int() }).optional(),
    }),
  ),
})
type TokensFile = z.infer<typeof TokensFile>

const NEVER = new AbortController().signal

const fileIn = (data: string) => join(data, 'tokens.json')

/** Creates a token for a new principal. */
export async function addToken(data: string, name: string): Promise<string> {
  if (!Name.safeParse(name).success) {
    throw new MainstemError(
      'invalid_request',
      `${name}: a name may contain only lower-case letters, digits, "-" and "_"`,
    )
  }
  await privateDirectory(data)
  return withTokenLock(data, async () => {
    const { tokens } = await read(data)
    if (name === LOCAL || tokens.some((one) => one.name === name && !one.login)) {
      throw new MainstemError('conflict', `a token ${name} already exists`)
    }
    const token = newToken()
    await write(data, { tokens: [...tokens, { name, digest: tokenOf(name, token).digest }] })
    return token
  })
}

/** The principals with a token, including that of the first token. */
export async function tokenNames(data: string): Promise<string[]> {
  const { tokens } = await read(data)
  return [...new Set([LOCAL, ...tokens.map(({ name }) => name)])]
}

/** Revokes the token of a principal and all of its logins immediately; the resources of its principal are kept. */
export async function removeToken(data: string, name: string): Promise<void> {
  if (name === LOCAL) {
    throw new MainstemError(
      'invalid_request',
      `${LOCAL} is the first token; delete its file to create a new one`,
    )
  }
  await privateDirectory(data)
  await withTokenLock(data, async () => {
    const { tokens } = await read(data)
    const left = tokens.filter((one) => one.name !== name)
    if (left.length === tokens.length) throw new MainstemError('not_found', `no token ${name}`)
    await write(data, { tokens: left })
  })
}

/** Adds and removes the tokens of command lines. */
export function loginStore(data: string): LoginStore {
  const change = (edit: (tokens: TokensFile['tokens']) => TokensFile['tokens']) =>
    withTokenLock(data, async () => write(data, { tokens: edit((await read(data)).tokens) }))
  return {
    add: ({ principal: name, digest, login }) => change((tokens) => [...tokens, { name, digest, login }]),
    remove: ({ digest }) => change((tokens) => tokens.filter((one) => one.digest !== digest)),
  }
}

const LOCK_TRIES = 400
const LOCK_WAIT_MS = 25

/** Serialises changes across processes: each is applied to the result of the previous one. */
async function withTokenLock<T>(data: string, change: () => Promise<T>): Promise<T> {
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
 * Reads the current tokens: changes apply from the next request on. If the list cannot be read, callers get an error
 * without its path; `report` gets the reason, once per version of the file.
 */
export function tokenSource(
  data: string,
  first: string,
  report: (thrown: unknown) => void,
): () => Promise<readonly Token[]> {
  const local = tokenOf(LOCAL, first, ['operator'])
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
          'the tokens of this server cannot be read; see the server log',
        )
      })
      unreadable = undefined
      const rolesOf = (name: string): Role[] => (name === LOCAL ? ['operator'] : [])
      const named = tokens.map(({ name, ...token }) => ({ principal: name, roles: rolesOf(name), ...token }))
      known = { version, tokens: [local, ...named] }
    }
    return known.tokens
  }
}

/** Every change replaces the file. */
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
    throw unsafe(path, 'is not a valid token list', 'Correct it, or delete it and add the tokens again.')
  }
}

async function write(data: string, file: TokensFile): Promise<void> {
  const path = fileIn(data)
  await withDraft(path, `${JSON.stringify(file, null, 2)}\n`, (draft) => rename(draft, path))
}
