import * as z from 'zod'
import type * as types from './tool.types.ts'

/** The kind of a tool, the same for every agent. Policies and displays branch on it. */
export const ToolKind = z.enum([
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'mcp',
  'task',
  'other',
])
export type ToolKind = types.ToolKind

/** How a tool call ended. `unknown`: the turn succeeded and the agent did not report the end of the call. */
export const ToolStatus = z.enum(['success', 'error', 'denied', 'cancelled', 'unknown'])
export type ToolStatus = types.ToolStatus

/** Who denied a tool call. */
export const DeniedBy = z.enum(['person', 'policy', 'hook', 'agent'])
export type DeniedBy = types.DeniedBy

/** A place in a file. */
export const Location = z.strictObject({
  path: z.string().describe('The path of the file.'),
  line: z.int().nonnegative().optional().describe('The line number that the agent reports.'),
})
export type Location = types.Location

/** The kinds that name tools. MCP tools are named with their server. */
export const CANONICAL_KINDS: ReadonlySet<string> = new Set(ToolKind.exclude(['mcp', 'other']).options)

/** The kind of a tool as its name, if it is one. */
export function canonicalKind(kind: ToolKind | undefined): string | undefined {
  return kind !== undefined && CANONICAL_KINDS.has(kind) ? kind : undefined
}
