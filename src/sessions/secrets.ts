import type { SessionOptions } from '../model/index.ts'
import type { SessionParts } from './parts.ts'
import type { SessionSetup } from './setup.ts'

/** Names of variables and headers whose values are keys. */
const SECRET_NAME = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|COOKIE|AUTH|AUTHORIZATION|PAT)$/i

/** The values that are keys, by the names they have. */
export function secretsIn(values: Readonly<Record<string, string | undefined>> = {}): string[] {
  const secrets: string[] = []
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || !SECRET_NAME.test(name)) continue
    // Of `Bearer abc` the second half alone is a secret too.
    secrets.push(value, value.split(' ').at(-1) ?? value)
  }
  return secrets
}

/** All that must not be in the log of this session. */
export function secretsFor({ agent, options }: SessionSetup, parts: SessionParts): string[] {
  const { env } = parts.agentSettings?.(agent.id) ?? {}
  return [...(parts.secrets ?? []), ...secretsIn(env), ...secretsOf(options)]
}

/** What a session's own options hand to its agent and to what that starts. */
function secretsOf({ env, mcpServers }: SessionOptions): string[] {
  const servers = Object.values(mcpServers ?? {})
  return [
    ...secretsIn(env),
    ...servers.flatMap((server) => [...secretsIn(server.env), ...secretsIn(server.headers)]),
  ]
}
