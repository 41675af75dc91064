import { randomUUID } from 'node:crypto'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { LOCAL } from '../gateway/http/auth.ts'
import { type AccessChange, actionOf, auditId, loginName, type Role } from '../model/access.ts'
import { MainstemError } from '../model/index.ts'
import type { AccessStore } from '../stores/access.ts'
import type { Config } from './config.ts'
import { readPrivate, unsafe } from './private-file.ts'

const Digest = z.string().regex(/^[0-9a-f]{64}$/)

/** Where earlier versions kept tokens: a file for each data directory. */
const TokensFile = z.strictObject({
  tokens: z.array(
    z.strictObject({
      name: z.string(),
      digest: Digest,
      login: z.strictObject({ name: z.string(), createdAt: z.int() }).optional(),
    }),
  ),
})

/** The tokens that an earlier version kept in a file. */
type OldTokens = z.infer<typeof TokensFile>['tokens']

const fileIn = (data: string) => join(data, 'tokens.json')

/** Reads the tokens of an earlier version. Rejects a file that another user could have read or written. */
async function oldTokens(data: string): Promise<OldTokens | undefined> {
  const path = fileIn(data)
  const text = await readPrivate(path)
  if (text === undefined) return undefined
  try {
    return TokensFile.parse(JSON.parse(text)).tokens
  } catch {
    throw unsafe(path, 'is not a valid token list', 'Correct it, or delete it and add the tokens again.')
  }
}

/** Adds the tokens of an earlier version to the store, but for those that were removed there, and renames the file. */
export async function importTokens(
  access: AccessStore,
  { data, durability }: Pick<Config, 'data' | 'durability'>,
  report: (thrown: unknown) => void,
): Promise<void> {
  const old = await oldTokens(data)
  if (!old) return
  const digests = new Map(old.filter(({ login }) => !login).map(({ name, digest }) => [name, digest]))
  for (const one of old) {
    const change = changeFor(one, digests)
    if (!change) continue
    const name = change.type === 'login.added' ? loginName(one.digest) : one.name
    const fact = {
      action: actionOf(change),
      principal: LOCAL,
      client: 'terminal',
      details: { name },
    } as const
    await access.change(change, { id: auditId(randomUUID()), ...fact })
  }
  const known = new Map((await access.tokens()).map(({ name, digest }) => [name, digest]))
  for (const [name, digest] of digests) {
    if ((known.get(name) ?? digest) !== digest) report(otherToken(data, name))
  }
  // A store that ends with the process needs the file at every start.
  if (durability !== 'none') await rename(fileIn(data), `${fileIn(data)}.imported`)
}

/** Undefined for a login of a principal without a token. */
function changeFor(
  { name, digest, login }: OldTokens[number],
  digests: ReadonlyMap<string, string>,
): AccessChange | undefined {
  const isLocal = name === LOCAL
  if (!login)
    return isLocal ? undefined : { type: 'token.added', name, digest, roles: [], onlyIfUnknown: true }
  const allowedBy = digests.get(name)
  if (!isLocal && allowedBy === undefined) return undefined
  const roles: Role[] = isLocal ? ['operator'] : []
  const by = isLocal || allowedBy === undefined ? {} : { allowedBy }
  const { name: machine, createdAt: at } = login
  return { type: 'login.added', principal: name, digest, roles, login: machine, at, ...by }
}

function otherToken(data: string, name: string): MainstemError {
  return new MainstemError(
    'conflict',
    `${fileIn(data)} has another token of ${name} than the store, which keeps its own`,
    {
      advice: `Give ${name} the token of the store, or replace it: \`mainstem token remove ${name}\`, then \`mainstem token add ${name}\`.`,
    },
  )
}
