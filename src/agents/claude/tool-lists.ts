import type { Policy } from '../../model/index.ts'
import type { Start } from '../agent.ts'
import { flagValue, unsupported } from '../kit/option.ts'
import { nativeTools } from '../kit/tool-names.ts'
import { TOOLS } from './tools.ts'

const AGENT = 'claude'

/** Converts the tool lists of a policy to arguments. */
export function toolArgs({ policy, options }: Start): string[] {
  const { available, preapproved, denied } = policy.tools ?? {}
  const named = (option: string, names: readonly string[] = []) => nativeTools(TOOLS, option, names)
  const servers = Object.keys(options.mcpServers ?? {})
  const kept = available && availableTools(available, servers)
  const unused = kept ? servers.filter((server) => !kept.servers.includes(server)) : []
  const excluded = [...named('tools.denied', denied), ...unused.map((server) => TOOLS.mcpName({ server }))]
  return [
    ...(kept ? [flagValue(AGENT, '--tools', kept.builtin.join(','))] : []),
    // `--tools` selects built-in tools only. Without this flag, servers of the user's settings would add theirs.
    ...(kept && options.isolation !== 'bare' ? ['--strict-mcp-config'] : []),
    ...(preapproved
      ? [flagValue(AGENT, '--allowedTools', named('tools.preapproved', preapproved).join(','))]
      : []),
    ...(denied || excluded.length > 0 ? [flagValue(AGENT, '--disallowedTools', excluded.join(','))] : []),
  ]
}

/** The available built-in tools, and the servers whose tools are available. */
function availableTools(names: NonNullable<NonNullable<Policy['tools']>['available']>, given: string[]) {
  const builtin: string[] = []
  const servers: string[] = []
  for (const name of nativeTools(TOOLS, 'tools.available', names)) {
    const mcp = TOOLS.mcpTool(name)
    if (!mcp) {
      if (name.includes('('))
        throw unsupported(
          AGENT,
          'tools.available',
          `"${name}" is a rule; tools.available accepts whole tools only`,
        )
      builtin.push(name)
    } else if (mcp.tool !== undefined) {
      throw unsupported(
        AGENT,
        'tools.available',
        `it offers all tools of a server or none; use mcp:${mcp.server}`,
      )
    } else if (given.includes(mcp.server)) {
      servers.push(mcp.server)
    } else {
      throw unsupported(AGENT, 'tools.available', `pass the server "${mcp.server}" in mcpServers`)
    }
  }
  return { builtin, servers }
}
