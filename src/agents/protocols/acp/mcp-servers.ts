import type { SessionOptions } from '../../../model/index.ts'
import type { Fields } from '../../fields.ts'

type Servers = NonNullable<SessionOptions['mcpServers']>

/** Converts servers to the protocol's format, which has lists instead of records. */
export function mcpServersOf(servers: Servers): Fields[] {
  const pairs = (record: Readonly<Record<string, string>> | undefined) =>
    Object.entries(record ?? {}).map(([name, value]) => ({ name, value }))
  return Object.entries(servers).map(([name, { command, args, url, headers, env }]) =>
    url === undefined
      ? { name, command, args: args ?? [], env: pairs(env) }
      : { type: 'http', name, url, headers: pairs(headers) },
  )
}
