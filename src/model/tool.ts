import { z } from 'zod'

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
export type ToolKind = z.infer<typeof ToolKind>

/** `unknown`: the turn ended well and the agent never closed the tool. */
export const ToolStatus = z.enum(['success', 'error', 'denied', 'cancelled', 'unknown'])
export type ToolStatus = z.infer<typeof ToolStatus>

export const DeniedBy = z.enum(['person', 'policy', 'hook', 'agent'])
export type DeniedBy = z.infer<typeof DeniedBy>

export const Location = z.strictObject({ path: z.string(), line: z.int().nonnegative().optional() })
export type Location = z.infer<typeof Location>
