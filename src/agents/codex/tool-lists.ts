import type { McpServer, Policy, SessionOptions, ToolKind } from '../../model/index.ts'
import type { Start } from '../agent.ts'
import { type Fields, fields, texts } from '../kit/fields.ts'
import { unsupported } from '../kit/option.ts'
import { nativeTools, type ToolTable } from '../kit/tool-names.ts'
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

type ToolSettings = Readonly<Record<string, Toml>>

/** One segment of a dotted key. */
export const SERVER_NAME: RegExp = /^[A-Za-z0-9_-]+$/

/** The settings that remove a tool. Patches have none: Codex requests approval for each, and we deny it. */
const SWITCHES: Readonly<Record<string, ToolSettings>> = {
  exec_command: { features: { shell_tool: false } },
  view_image: { features: { view_image: false } },
  web_search: { web_search: 'disabled' },
  update_plan: { tools: { update_plan: { enabled: false } } },
  spawn_agent: { features: { multi_agent: false, multi_agent_v2: false } },
}

/** Tools that no list can name. They are removed if `tools.available` is set. */
const UNNAMED: ToolSettings = {
  features: {
    ...{ apps: false, plugins: false, goals: false, image_generation: false, skill_search: false },
    ...{ sleep_tool: false, tool_suggest: false },
  },
}

interface ListedTools {
  readonly tools: ReadonlySet<string>
  /** Tools by server; undefined stands for all tools of a server. */
  readonly servers: ReadonlyMap<string, readonly string[] | undefined>
}

function listedIn(option: string, names: readonly string[]): ListedTools {
  const tools = new Set<string>()
  const servers = new Map<string, readonly string[] | undefined>()
  for (const name of nativeTools(TOOLS, option, names)) {
    const mcp = TOOLS.mcpTool(name)
    if (!mcp) {
      tools.add(name)
      continue
    }
    const earlier = servers.has(mcp.server) ? servers.get(mcp.server) : []
    servers.set(mcp.server, mcp.tool === undefined || !earlier ? undefined : [...earlier, mcp.tool])
  }
  return { tools, servers }
}

function availableIn({ tools }: Policy): ListedTools | undefined {
  return tools?.available && listedIn('tools.available', tools.available)
}

function deniedIn(policy: Policy): ListedTools {
  const { tools, servers } = listedIn('tools.denied', policy.tools?.denied ?? [])
  const available = availableIn(policy)
  const others = available ? [...KINDS.keys()].filter((name) => !available.tools.has(name)) : []
  return { tools: new Set([...tools, ...others]), servers }
}

/** Rejects tool lists that neither Codex nor we can enforce. */
export function checkToolLists({ policy, launch }: Pick<Start, 'policy' | 'launch'>): void {
  const { tools, sandbox } = policy
  if (tools?.available && launch === 'oneshot')
    throw unsupported(
      AGENT,
      'tools.available',
      'only its live launch tells which servers its settings define',
    )
  availableIn(policy)
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
export function toolSettings(policy: Policy): ToolSettings {
  const settings: Record<string, Toml> = {}
  const removed = [...deniedIn(policy).tools].map((tool) => SWITCHES[tool] ?? {})
  for (const one of policy.tools?.available ? [...removed, UNNAMED] : removed) {
    for (const [key, value] of Object.entries(one)) {
      const earlier = settings[key]
      settings[key] = isTable(earlier) && isTable(value) ? { ...earlier, ...value } : value
    }
  }
  return settings
}

function isTable(value: Toml | undefined): value is ToolSettings {
  return typeof value === 'object' && !Array.isArray(value)
}

/** Whether the lists remove every tool of a server. */
export function isRemoved(policy: Policy, name: string): boolean {
  const denied = deniedIn(policy).servers
  const available = availableIn(policy)?.servers
  if (available && !available.has(name)) return true
  return denied.has(name) && denied.get(name) === undefined
}

/** The servers of a session without the servers and tools that the policy removes. */
export function allowedServers(
  { mcpServers = {} }: SessionOptions,
  policy: Policy,
): Readonly<Record<string, McpServer>> {
  const denied = deniedIn(policy).servers
  const available = availableIn(policy)
  return Object.fromEntries(
    Object.entries(mcpServers)
      .filter(([name]) => !isRemoved(policy, name))
      .map(([name, server]) => {
        const { includeTools, excludeTools = [] } = server
        const included = both(available?.servers.get(name), includeTools)
        const excluded = denied.get(name) ?? []
        const tools = {
          ...(included && { includeTools: [...included] }),
          ...(excluded.length > 0 && { excludeTools: [...excludeTools, ...excluded] }),
        }
        return [name, { ...server, ...tools }]
      }),
  )
}

/** Whether the lists concern servers that Codex's own settings may define. */
export function concernsOthers({ mcpServers = {} }: SessionOptions, policy: Policy): boolean {
  // A server of the session hides one of the settings with the same name, unless it is removed.
  const isOther = (name: string) => !(name in mcpServers) || isRemoved(policy, name)
  return policy.tools?.available !== undefined || [...deniedIn(policy).servers.keys()].some(isOther)
}

/**
 * Settings for the servers that only Codex's own settings define: denials, and with `tools.available` the removal of
 * all others. `defined` are those settings, by server.
 */
export function otherServers(
  { mcpServers = {} }: SessionOptions,
  policy: Policy,
  defined: Fields = {},
): Record<string, ToolSettings> {
  const denied = deniedIn(policy).servers
  const available = availableIn(policy)
  // Codex starts no server with another name.
  const others = available ? Object.keys(defined).filter((name) => SERVER_NAME.test(name)) : []
  const names = new Set([...denied.keys(), ...others])
  return Object.fromEntries(
    [...names].flatMap((name): [string, ToolSettings][] => {
      const removed = isRemoved(policy, name)
      if (name in mcpServers && !(removed && name in defined)) return []
      if (removed) return [[name, { enabled: false }]]
      const tools = denied.get(name) ?? []
      const included = both(available?.servers.get(name), texts(fields(defined, name), 'enabled_tools'))
      const settings: ToolSettings = {
        ...(available && included && { enabled_tools: included }),
        ...(tools.length > 0 && { disabled_tools: tools }),
      }
      return Object.keys(settings).length === 0 ? [] : [[name, settings]]
    }),
  )
}

/** The names that are in both lists, where an absent list has all. */
function both(one: readonly string[] | undefined, other: readonly string[] | undefined) {
  return one && other ? one.filter((name) => other.includes(name)) : (one ?? other)
}
