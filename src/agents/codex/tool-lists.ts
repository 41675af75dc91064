import type { McpServer, Policy, SessionOptions, ToolKind } from '../../model/index.ts'
import type { Start } from '../agent.ts'
import { unsupported } from '../option.ts'
import { nativeTools, type ToolTable } from '../tool-names.ts'
import type { Toml } from './toml.ts'

const AGENT = 'codex'

/** By the names that the model calls. Files are read and searched with shell commands, so no tool has these kinds. */
const KINDS: ReadonlyMap<string, ToolKind> = new Map([
  ['exec_command', 'execute'],
  ['apply_patch', 'edit'],
  ['web_search', 'search'],
  ['update_plan', 'think'],
  ['spawn_agent', 'task'],
  ['view_image', 'other'],
])

export const TOOLS: ToolTable = {
  agent: AGENT,
  kinds: KINDS,
  // The names by which Codex reports its calls.
  aliases: new Map([
    ['shell', 'exec_command'],
    ['commandExecution', 'exec_command'],
    ['command_execution', 'exec_command'],
    ['fileChange', 'apply_patch'],
    ['file_change', 'apply_patch'],
    ['webSearch', 'web_search'],
    ['imageView', 'view_image'],
  ]),
  mcpName: ({ server, tool }) => `${server}.${tool ?? '*'}`,
  mcpTool(name) {
    const [, server, tool] = /^([A-Za-z0-9_-]+)\.(.+)$/.exec(name) ?? []
    if (server === undefined || tool === undefined) return undefined
    return tool === '*' ? { server } : { server, tool }
  },
}

type Settings = Readonly<Record<string, Toml>>

/** The settings that remove a tool. Patches have none: Codex requests approval for each, and we deny it. */
const SWITCHES: Readonly<Record<string, Settings>> = {
  exec_command: { features: { shell_tool: false } },
  view_image: { features: { view_image: false } },
  web_search: { web_search: 'disabled' },
  update_plan: { tools: { update_plan: { enabled: false } } },
  spawn_agent: { features: { multi_agent: false, multi_agent_v2: false } },
}

interface Denied {
  readonly tools: ReadonlySet<string>
  /** Denied tools by server; undefined denies all tools of a server. */
  readonly servers: ReadonlyMap<string, readonly string[] | undefined>
}

function deniedIn({ tools }: Policy): Denied {
  const denied = new Set<string>()
  const servers = new Map<string, readonly string[] | undefined>()
  for (const name of nativeTools(TOOLS, 'tools.denied', tools?.denied ?? [])) {
    const mcp = TOOLS.mcpTool(name)
    if (!mcp) {
      denied.add(name)
      continue
    }
    const earlier = servers.has(mcp.server) ? servers.get(mcp.server) : []
    servers.set(mcp.server, mcp.tool === undefined || !earlier ? undefined : [...earlier, mcp.tool])
  }
  return { tools: denied, servers }
}

/** Rejects tool lists that neither Codex nor we can enforce. */
export function checkToolLists({ policy, launch }: Pick<Start, 'policy' | 'launch'>): void {
  const { tools, sandbox } = policy
  if (tools?.available)
    throw unsupported(
      AGENT,
      'tools.available',
      'it cannot ignore the MCP servers of its own settings; list them in tools.denied',
    )
  const preapproved = nativeTools(TOOLS, 'tools.preapproved', tools?.preapproved ?? [])
  if (launch === 'live') return
  if (
    preapproved.length > 0 &&
    (sandbox !== 'full-access' || preapproved.some((name) => TOOLS.mcpTool(name)))
  )
    throw unsupported(
      AGENT,
      'tools.preapproved',
      'its one-shot launch requests no approval; choose full-access or its live launch',
    )
  if (asksForPatches(policy) && sandbox !== 'read-only')
    throw unsupported(AGENT, 'tools.denied', 'its one-shot launch patches files without approval')
}

/** Whether Codex must request approval for every patch, so that we can deny it. */
export function asksForPatches(policy: Policy): boolean {
  return deniedIn(policy).tools.has('apply_patch')
}

/** Top-level settings that remove denied tools. */
export function toolSettings(policy: Policy): Settings {
  const settings: Record<string, Toml> = {}
  for (const tool of deniedIn(policy).tools) {
    for (const [key, value] of Object.entries(SWITCHES[tool] ?? {})) {
      const earlier = settings[key]
      settings[key] = isTable(earlier) && isTable(value) ? { ...earlier, ...value } : value
    }
  }
  return settings
}

function isTable(value: Toml | undefined): value is Settings {
  return typeof value === 'object' && !Array.isArray(value)
}

/** The servers of a session without denied servers and tools. */
export function allowedServers(
  { mcpServers = {} }: SessionOptions,
  policy: Policy,
): Readonly<Record<string, McpServer>> {
  const { servers } = deniedIn(policy)
  return Object.fromEntries(
    Object.entries(mcpServers).flatMap(([name, server]): [string, McpServer][] => {
      const denied = servers.has(name) ? servers.get(name) : []
      if (!denied) return []
      if (denied.length === 0) return [[name, server]]
      return [[name, { ...server, excludeTools: [...(server.excludeTools ?? []), ...denied] }]]
    }),
  )
}

/** Denials for servers that only Codex's own settings define. */
export function otherServers({ mcpServers = {} }: SessionOptions, policy: Policy): Record<string, Settings> {
  const others = [...deniedIn(policy).servers].filter(([name]) => !(name in mcpServers))
  return Object.fromEntries(
    others.map(([name, tools]): [string, Settings] => [
      name,
      tools ? { disabled_tools: tools } : { enabled: false },
    ]),
  )
}
