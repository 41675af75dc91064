import { MainstemError, type Policy, type SessionOptions } from '../../model/index.ts'
import type { NewSession } from '../../model/session/new-session.ts'
import { onlyDirectories, withOptionDirectories } from '../../model/session/option-directories.ts'
import type { GatewayDeps } from '../deps.ts'
import { isStillBelow } from './roots.ts'
import { workingDirectory } from './working-directory.ts'

/**
 * Options with which a caller runs arbitrary programs or bypasses the policy. They are allowed only where the ceiling
 * allows everything.
 */
const FREE_ONLY = ['env', 'hooks', 'mcpServers'] as const

interface OptionBounds {
  ceiling: Policy
  roots: readonly string[]
}

/** Validates the options of a new session; throws `forbidden` when they exceed what this server allows. */
export async function optionsUnder(
  options: SessionOptions,
  deps: Pick<GatewayDeps, 'ceiling' | 'roots' | 'cluster'>,
): Promise<SessionOptions> {
  if (!allowsEverything(deps.ceiling)) {
    const found = FREE_ONLY.find((name) => options[name] !== undefined)
    if (found) tooMuch(`options.${found}`)
  }
  return withOptionDirectories(options, (directory, field) => workingDirectory(deps, directory, field))
}

/** Some variables that agents read make them run programs. */
export function keysUnder(
  keys: NonNullable<NewSession['keys']>,
  { ceiling }: Pick<GatewayDeps, 'ceiling'>,
): NonNullable<NewSession['keys']> {
  return allowsEverything(ceiling) ? keys : tooMuch('keys')
}

/** The part of a request whose digest is stored with its idempotency key. */
export function withoutKeys<Body extends { keys?: unknown }>({ keys: _, ...body }: Body): Omit<Body, 'keys'> {
  return body
}

/** Removes the options of an earlier session that this server no longer allows. */
export function loweredOptions(options: SessionOptions, { ceiling, roots }: OptionBounds): SessionOptions {
  const lower = { ...options }
  if (!allowsEverything(ceiling)) for (const name of FREE_ONLY) delete lower[name]
  return onlyDirectories(lower, (directory) => isStillBelow(roots, directory))
}

export function allowsEverything({ approval, sandbox }: Policy): boolean {
  return approval === 'auto-all' && sandbox === 'full-access'
}

export function tooMuch(field: string): never {
  throw new MainstemError('forbidden', `${field} may do more than this server allows`, { field })
}
