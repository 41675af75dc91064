import type { ToolKind } from '../../model/index.ts'
import { CANONICAL_KINDS, canonicalKind } from '../../model/request/tool.ts'
import type { NamedCall, ToolNames } from '../agent.ts'
import { unsupported } from './option.ts'

/** A tool of an MCP server, or all of its tools. */
export interface McpTool {
  readonly server: string
  readonly tool?: string
}

/** The tool names of one agent, and its spelling of MCP tools. */
export interface ToolTable {
  readonly agent: string
  readonly kinds: ReadonlyMap<string, ToolKind>
  /** Other names of these tools. */
  readonly aliases?: ReadonlyMap<string, string>
  /** The native name, which may end in `*` for all tools of a server. */
  mcpName(tool: McpTool): string
  /** The reverse of `mcpName`; undefined for names that do not belong to a server. */
  mcpTool(name: string): McpTool | undefined
  /** Native names beyond the table, such as rules with a pattern. */
  accepts?(name: string): boolean
}

/** Names from other agents, for agents that have exactly one such tool. */
const WELL_KNOWN: ReadonlyMap<string, ToolKind> = new Map([
  ['bash', 'execute'],
  ['shell', 'execute'],
  ['read', 'read'],
  ['edit', 'edit'],
  ['write', 'edit'],
  ['websearch', 'search'],
  ['webfetch', 'fetch'],
  ['todowrite', 'think'],
  ['task', 'task'],
  ['agent', 'task'],
])

const ADVICE = 'Use a canonical name (execute, edit, mcp:docs/search …) or a tool name of this agent.'

/**
 * Converts a tool list to native names. Rejects a name that the agent does not have, because a rule for it would match
 * nothing.
 */
export function nativeTools(table: ToolTable, option: string, names: readonly string[]): string[] {
  const native = names.flatMap((name) => {
    const found = lookup(table, name)
    if (found.length > 0) return found
    throw unsupported(table.agent, option, refusal(table, name), ADVICE)
  })
  return [...new Set(native)]
}

/** Matches requests of this agent with the names of tool lists. */
export function toolNames(table: ToolTable): ToolNames {
  return {
    means: (name, call) =>
      name === call.toolKind || lookup(table, name).some((one) => covers(table, one, call)),
    canonical: (call) => canonicalName(table, call),
  }
}

function lookup(table: ToolTable, name: string): readonly string[] {
  const mcp = /^mcp:([^/]+)(?:\/(.+))?$/.exec(name)
  if (mcp) return [table.mcpName({ server: mcp[1] ?? '', ...(mcp[2] !== undefined && { tool: mcp[2] }) })]
  if (CANONICAL_KINDS.has(name)) return toolsOf(table, name)
  if (table.kinds.has(name) || table.mcpTool(name) || table.accepts?.(name)) return [name]
  const spelling = name.toLowerCase()
  const names = [...table.kinds.keys(), ...(table.aliases?.keys() ?? [])]
  const same = names.filter((native) => native.toLowerCase() === spelling)
  if (same.length === 1) return same.map((native) => nameIn(table, native))
  const known = toolsOf(table, WELL_KNOWN.get(spelling))
  return known.length === 1 ? known : []
}

function toolsOf({ kinds }: ToolTable, kind: string | undefined): string[] {
  return [...kinds].flatMap(([native, one]) => (one === kind ? [native] : []))
}

function refusal(table: ToolTable, name: string): string {
  if (CANONICAL_KINDS.has(name)) return `it has no tool for "${name}" alone`
  const kind = WELL_KNOWN.get(name.toLowerCase())
  const near = toolsOf(table, kind)
  if (near.length > 0) return `it has no tool "${name}"; use ${kind} or one of ${near.join(', ')}`
  return `it has no tool "${name}"; it has ${[...table.kinds.keys()].join(', ')}`
}

function nameIn({ aliases }: ToolTable, name: string): string {
  return aliases?.get(name) ?? name
}

function covers(table: ToolTable, native: string, { tool }: NamedCall): boolean {
  if (tool === undefined) return false
  return native.endsWith('*') ? tool.startsWith(native.slice(0, -1)) : nameIn(table, tool) === native
}

function canonicalName(table: ToolTable, { tool = '', toolKind }: NamedCall): string {
  const mcp = table.mcpTool(tool)
  if (mcp) return mcp.tool === undefined ? `mcp:${mcp.server}` : `mcp:${mcp.server}/${mcp.tool}`
  return canonicalKind(toolKind ?? table.kinds.get(nameIn(table, tool))) ?? tool
}
