import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { ProcessLaunch } from '../../agents/agent.ts'

type NamedInSettings = NonNullable<ProcessLaunch['passNamedIn']>

/**
 * Reads the names of environment variables that the agent expects from the agent's settings file, at the path that the
 * child will resolve.
 */
export function namedVariables(
  { base, variable, path, pattern }: NamedInSettings,
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  const named = variable === undefined ? undefined : environment[variable]
  const folder = named || join(environment.HOME || homedir(), base)
  const lines = textOf(join(folder, path)).split('\n')
  return lines.flatMap((line) => Array.from(line.matchAll(pattern), ([, name]) => name ?? ''))
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // Without a settings file the agent names no variables.
    return ''
  }
}
