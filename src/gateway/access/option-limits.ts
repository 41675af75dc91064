import { MainstemError, type Policy, type SessionOptions } from '../../model/index.ts'
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
  if (!options.extraDirectories) return options
  const extraDirectories = await Promise.all(
    options.extraDirectories.map((directory) =>
      workingDirectory(deps, directory, 'options.extraDirectories'),
    ),
  )
  return { ...options, extraDirectories }
}

/** Removes the options of an earlier session that this server no longer allows. */
export function loweredOptions(options: SessionOptions, { ceiling, roots }: OptionBounds): SessionOptions {
  const lower = { ...options }
  if (!allowsEverything(ceiling)) for (const name of FREE_ONLY) delete lower[name]
  if (!lower.extraDirectories) return lower
  return {
    ...lower,
    extraDirectories: lower.extraDirectories.filter((directory) => isStillBelow(roots, directory)),
  }
}

export function allowsEverything({ approval, sandbox }: Policy): boolean {
  return approval === 'auto-all' && sandbox === 'full-access'
}

export function tooMuch(field: string): never {
  throw new MainstemError('forbidden', `${field} may do more than this server allows`, { field })
}
