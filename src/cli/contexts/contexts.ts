import { rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { defaultPaths, type Environment } from '../../compose/paths.ts'
import { privateDirectory, readPrivate, unsafe, withDraft } from '../../daemon/private-file.ts'

/** A server that commands can use, and the token for it. */
export interface Context {
  name: string
  server: string
  /** Absent for a server that needs no token. */
  token?: string | undefined
  /** The principal of the token. */
  principal: string
  /** True if the token was created for this command line, so that `mainstem logout` removes it from the server. */
  isLogin?: boolean | undefined
  /** Certificates to trust besides those of the system, in PEM. */
  ca?: string | undefined
}

export interface Contexts {
  /** The name of the context that commands use; absent for the server of this machine. */
  current?: string | undefined
  contexts: readonly Context[]
}

/** The name that stands for the server of this machine. */
export const LOCAL_CONTEXT = 'local'

export function contextsFile(environment: Environment): string {
  return join(dirname(defaultPaths(environment).config), 'contexts.json')
}

/** The contexts of this user. The file contains tokens, so it is refused if another user could have written it. */
export async function readContexts(environment: Environment): Promise<Contexts> {
  const path = contextsFile(environment)
  const text = await readPrivate(path)
  if (text === undefined) return { contexts: [] }
  const { contexts, current } = objectIn(text)
  if (!Array.isArray(contexts) || !contexts.every(isContext)) {
    throw unsafe(path, 'is not a list of contexts', 'Correct it, or delete it and log in again.')
  }
  return { contexts, ...(typeof current === 'string' && { current }) }
}

export async function writeContexts(environment: Environment, contexts: Contexts): Promise<void> {
  const path = contextsFile(environment)
  await privateDirectory(dirname(path))
  await withDraft(path, `${JSON.stringify(contexts, null, 2)}\n`, (draft) => rename(draft, path))
}

/** The contexts without one of them. Without the current one, commands use the server of this machine. */
export function withoutContext({ contexts, current }: Contexts, name: string): Contexts {
  const left = contexts.filter((one) => one.name !== name)
  return { contexts: left, ...(current !== undefined && current !== name && { current }) }
}

function objectIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

function isContext(value: unknown): value is Context {
  if (typeof value !== 'object' || value === null) return false
  const { name, server, principal, token, ca }: Partial<Record<string, unknown>> = { ...value }
  const isText = [name, server, principal].every((one) => typeof one === 'string')
  return isText && [token, ca].every((one) => one === undefined || typeof one === 'string')
}
