import { MainstemError, type Policy, type SessionOptions } from '../../model/index.ts'
import { directoryBelow, isStillBelow } from './roots.ts'

/**
 * Options with which a caller runs programs of their own, or reaches around the policy. They are free only where
 * the ceiling allows everything anyway.
 */
const FREE_ONLY = ['env', 'hooks', 'mcpServers'] as const

interface Bounds {
  ceiling: Policy
  roots: readonly string[]
}

/** Options of a new session, `forbidden` where they ask for more than this server allows. */
export async function optionsUnder(
  options: SessionOptions,
  { ceiling, roots }: Bounds,
): Promise<SessionOptions> {
  if (!allowsEverything(ceiling)) {
    const found = FREE_ONLY.find((name) => options[name] !== undefined)
    if (found) tooMuch(`options.${found}`)
  }
  if (!options.extraDirectories) return options
  const extraDirectories = await Promise.all(
    options.extraDirectories.map((directory) => directoryBelow(roots, directory, 'options.extraDirectories')),
  )
  return { ...options, extraDirectories }
}

/** Removes the options of an earlier session that this server no longer allows. */
export function loweredOptions(options: SessionOptions, { ceiling, roots }: Bounds): SessionOptions {
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
