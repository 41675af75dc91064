import { type AgentClientOptions, AgentClient as ServerClient } from '../agent-client.ts'
import { StdioTransport } from '../stdio/index.ts'
import type { Transport } from '../transports/transport.ts'

/**
 * Runs an agent on this machine through `mainstem stdio`, unless `transport`, or `baseUrl` or `token` of `config`,
 * selects a server.
 */
export class AgentClient extends ServerClient {
  constructor(options: AgentClientOptions) {
    const transport = options.transport ?? localTransport(options)
    super({ ...options, ...(transport && { transport }) })
  }
}

function localTransport({ config = {} }: AgentClientOptions): Transport | undefined {
  const { baseUrl, token, workingDirectory, extensions } = config
  if (baseUrl !== undefined || token !== undefined) return undefined
  return new StdioTransport({
    ...(extensions !== undefined && { extensions }),
    args: ['stdio', ...(workingDirectory === undefined ? [] : ['--cwd', workingDirectory])],
  })
}
