import type { Environment } from '../../compose/paths.ts'
import type { ConnectedServer } from '../contexts/connect.ts'

/**
 * The variables of this terminal that the agent would get from the background server, which keeps the environment of the
 * command that started it; undefined if there are none. Only the server on this machine gets them, and it keeps them in
 * memory.
 */
export function callerKeys(
  { info, remote }: Partial<ConnectedServer>,
  agent: string,
  environment: Environment = process.env,
): Record<string, string> | undefined {
  // Without a server, the agent has the environment of this process.
  if (remote !== undefined) return undefined
  const patterns = info?.variables?.[agent] ?? []
  const keys: Record<string, string> = {}
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && patterns.some((pattern) => matches(pattern, name))) keys[name] = value
  }
  return Object.keys(keys).length > 0 ? keys : undefined
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}
