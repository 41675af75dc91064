import { ToolKind } from './tool.ts'

/** The kinds that name tools. MCP tools are named with their server. */
export const CANONICAL_KINDS: ReadonlySet<string> = new Set(ToolKind.exclude(['mcp', 'other']).options)

/** The kind of a tool as its name, if it is one. */
export function canonicalKind(kind: ToolKind | undefined): string | undefined {
  return kind !== undefined && CANONICAL_KINDS.has(kind) ? kind : undefined
}
