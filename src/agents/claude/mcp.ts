import type { SessionOptions } from '../../model/index.ts'
import { compareVersions } from '../../model/version.ts'
import type { Emitted, LaunchFile, Start } from '../agent.ts'
import type { Fields } from '../kit/fields.ts'
import { filePath, unsupported } from '../kit/option.ts'

const MCP_FILE = 'mcp.json'

/** The first version that reads MCP servers from the initialize request. */
const IN_INITIALIZE = '2.1.326'

type ClaudeServers = NonNullable<SessionOptions['mcpServers']>

/** Arguments and files that configure the MCP servers. Keys of servers never appear on the command line. */
export function mcpLaunch(start: Start): { args: string[]; files: LaunchFile[] } {
  const { mcpServers } = start.options
  if (!mcpServers) return { args: [], files: [] }
  if (serversInInitialize(start)) return { args: ['--await-initialize'], files: [] }
  const text = JSON.stringify({ mcpServers: nativeServers(mcpServers) })
  return { args: [`--mcp-config=${filePath(MCP_FILE)}`], files: [{ name: MCP_FILE, text }] }
}

/** The servers passed in the initialize request, so that their keys are not written to a file either. */
export function serversInInitialize({
  launch,
  version,
  options,
}: Start): Record<string, unknown> | undefined {
  if (launch !== 'live' || version === undefined || !options.mcpServers) return undefined
  return compareVersions(version, IN_INITIALIZE) < 0 ? undefined : nativeServers(options.mcpServers)
}

/** Claude Code confirms that it read the servers; without the confirmation it runs without them. */
export function serversRefused(start: Start, answer: Fields): Emitted[] {
  if (!serversInInitialize(start) || answer.mcp_servers_applied === true) return []
  const message = 'Claude Code did not read the MCP servers of the initialize request; it runs without them'
  const servers = Object.keys(start.options.mcpServers ?? {})
  return [{ type: 'notice.raised', level: 'error', code: 'protocol_refused', message, data: { servers } }]
}

function nativeServers(servers: ClaudeServers): Record<string, unknown> {
  const native: Record<string, unknown> = {}
  for (const [name, { trust, includeTools, excludeTools, ...server }] of Object.entries(servers)) {
    if (trust !== undefined || includeTools || excludeTools) {
      throw unsupported('claude', `mcpServers.${name}`, 'it cannot filter or trust the tools of one server')
    }
    native[name] = server.url === undefined ? server : { type: 'http', ...server }
  }
  return native
}
