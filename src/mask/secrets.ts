import type { SessionOptions, SessionRecord } from '../model/index.ts'
import { OWNER } from '../model/owner.ts'

/** Names of variables and headers whose values are keys. */
const SECRET_NAME = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|COOKIE|AUTH|AUTHORIZATION|PAT)$/i

/** The values whose names mark them as secrets. */
export function secretsIn(values: Readonly<Record<string, string | undefined>> = {}): string[] {
  const secrets: string[] = []
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || !SECRET_NAME.test(name)) continue
    // Of `Bearer abc` the second half alone is a secret too.
    secrets.push(value, value.split(' ').at(-1) ?? value)
  }
  return secrets
}

/** Values to mask in a session. */
export interface Secrets {
  /** The principal of the session knows them, so holding a text back because of one reveals nothing to that principal. */
  own?: readonly string[]
  /** The server lends them to the agent. A text is never held back because of one: the delay would reveal it. */
  lent?: readonly string[]
}

/** Classifies secrets of the server for the principal of a session. */
export function serverSecrets(principal: string, secrets: readonly string[]): Secrets {
  return principal === OWNER ? { own: secrets } : { lent: secrets }
}

/** What the server knows of secrets. */
interface ServerSecrets {
  /** Values to mask in sessions of the server's owner, besides the keys that a session passes to its agent. */
  secrets?: readonly string[]
  agentSettings?(id: string): { env?: Readonly<Record<string, string>> | undefined }
}

/**
 * The secrets of a session before its agent starts. The secrets of the server that the agent is not given belong to
 * the owner of the server, and are not compared with the text of any other principal.
 */
export function secretsFor(
  { agent, options }: { agent: { id: string }; options: SessionOptions },
  principal: string,
  deps: ServerSecrets,
): Secrets {
  const configured = secretsIn(deps.agentSettings?.(agent.id).env)
  const { own = [], lent = [] } = serverSecrets(principal, configured)
  return { own: [...own, ...(principal === OWNER ? (deps.secrets ?? []) : []), ...secretsOf(options)], lent }
}

/** The secrets in the options of a session. */
function secretsOf({ env, mcpServers }: SessionOptions): string[] {
  const servers = Object.values(mcpServers ?? {})
  return [
    ...secretsIn(env),
    ...servers.flatMap((server) => [...secretsIn(server.env), ...secretsIn(server.headers)]),
  ]
}

const HIDDEN = '[hidden]'

/** Removes values that may be secret from a record; the caller that set them knows them. */
export function withoutSecrets(record: SessionRecord): SessionRecord {
  return { ...record, options: hiddenOptions(record.options) }
}

/** Options without the values of variables and headers. */
export function hiddenOptions({ env, mcpServers, ...options }: SessionOptions): SessionOptions {
  return {
    ...options,
    ...(env && { env: hide(env) }),
    ...(mcpServers && {
      mcpServers: Object.fromEntries(
        Object.entries(mcpServers).map(([name, { env, headers, ...server }]) => [
          name,
          { ...server, ...(env && { env: hide(env) }), ...(headers && { headers: hide(headers) }) },
        ]),
      ),
    }),
  }
}

function hide(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(values).map((name) => [name, HIDDEN]))
}
