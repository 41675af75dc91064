import { MainstemError, type Policy, type SessionOptions } from '../model/index.ts'
import { directoryBelow } from './roots.ts'

/**
 * Options with which a caller runs programs of their own, or reaches around the policy. They are free only where
 * the ceiling allows everything anyway.
 */
export async function optionsUnder(
  options: SessionOptions,
  { ceiling, roots }: { ceiling: Policy; roots: readonly string[] },
): Promise<SessionOptions> {
  if (!allowsEverything(ceiling)) {
    const found = (['env', 'hooks', 'mcpServers'] as const).find((name) => options[name] !== undefined)
    if (found) tooMuch(`options.${found}`)
  }
  if (!options.extraDirectories) return options
  const extraDirectories = await Promise.all(
    options.extraDirectories.map((directory) => directoryBelow(roots, directory, 'options.extraDirectories')),
  )
  return { ...options, extraDirectories }
}

export function allowsEverything({ approval, sandbox }: Policy): boolean {
  return approval === 'auto-all' && sandbox === 'full-access'
}

export function tooMuch(field: string): never {
  throw new MainstemError('forbidden', `${field} may do more than this server allows`, { field })
}
