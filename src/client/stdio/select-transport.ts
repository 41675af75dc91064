import { AgentType } from '../config.ts'
import type { HttpOptions } from '../rest.ts'
import { selectTransport as selectServer } from '../transports/select-transport.ts'
import type { Transport } from '../transports/transport.ts'
import { type StdioOptions, StdioTransport } from './stdio-transport.ts'

/** Agents that the protocol document runs on a server. */
const SERVED: ReadonlySet<AgentType> = new Set([AgentType.claude])

/**
 * Selects the transport of an agent as the protocol document does: a server for Claude, and `mainstem stdio`, which
 * needs no server, for every other agent. With a `baseUrl`, the server runs every agent.
 */
export function selectTransport(
  agentType: AgentType,
  { args, env, ...options }: HttpOptions & Pick<StdioOptions, 'args' | 'env'> = {},
): Transport {
  const { baseUrl, dialect, extensions } = options
  if (baseUrl !== undefined || SERVED.has(agentType)) return selectServer(agentType, options)
  return new StdioTransport({
    ...(args && { args }),
    ...(env && { env }),
    ...(dialect !== undefined && { dialect }),
    ...(extensions !== undefined && { extensions }),
  })
}
