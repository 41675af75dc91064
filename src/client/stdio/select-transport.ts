import { AgentType } from '../config.ts'
import type { HttpOptions } from '../rest.ts'
import { selectTransport as selectServer } from '../select-transport.ts'
import type { Transport } from '../transport.ts'
import { type StdioOptions, StdioTransport } from './stdio-transport.ts'

/** Agents that the protocol's document reaches at a server. */
const SERVED: ReadonlySet<AgentType> = new Set([AgentType.claude])

/**
 * The transport of an agent, as the protocol's document selects it: Claude at a server, every other agent through a
 * process of `mainstem stdio`, which needs no server. With a `baseUrl` every agent is reached there.
 */
export function selectTransport(
  agentType: AgentType,
  { args, env, ...options }: HttpOptions & Pick<StdioOptions, 'args' | 'env'> = {},
): Transport {
  const { baseUrl, dialect } = options
  if (baseUrl !== undefined || SERVED.has(agentType)) return selectServer(agentType, options)
  return new StdioTransport({
    ...(args && { args }),
    ...(env && { env }),
    ...(dialect !== undefined && { dialect }),
  })
}
