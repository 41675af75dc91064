import { z } from 'zod'
import { OUTSIDE_ID } from './ids.ts'

/** Model names reach an argv: letters first, no spaces, no control characters. */
export const ModelName = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:/@[\]-]*$/)

/** An agent's own name of a mode reaches an argv too: no flag, no control or invisible characters. */
export const ModeName = z
  .string()
  .max(200)
  .regex(/^[^-\s\p{C}][^\p{C}\p{Zl}\p{Zp}]*$/u, 'not the name of a mode')

export const McpServer = z.strictObject({
  command: z.string().optional(),
  args: z.array(z.string()).optional(),
  url: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  trust: z.boolean().optional(),
  includeTools: z.array(z.string()).optional(),
  excludeTools: z.array(z.string()).optional(),
})
export type McpServer = z.infer<typeof McpServer>

export const Image = z.strictObject({ mimeType: z.string().regex(/^image\//), data: z.base64() })
export type Image = z.infer<typeof Image>

/** What the system takes as one variable of a process. */
const VariableValue = z
  .string()
  .max(32_768)
  .refine((value) => !value.includes('\0'), 'contains a NUL character')

/** `user` loads the user's settings, `no-project` leaves the repository's out, `bare` loads none. */
export const Isolation = z.enum(['user', 'no-project', 'bare'])

/** A command that gets the request as JSON on stdin; exit 0 allows, anything else or a timeout denies. */
export const ToolHook = z.strictObject({
  command: z.array(z.string()).min(1),
  timeoutMs: z.int().positive().optional(),
})
export type ToolHook = z.infer<typeof ToolHook>

export const SessionOptions = z.strictObject({
  model: ModelName.optional(),
  effort: z.string().regex(OUTSIDE_ID).optional(),
  systemPrompt: z.strictObject({ append: z.string().optional(), replace: z.string().optional() }).optional(),
  extraDirectories: z.array(z.string()).optional(),
  mcpServers: z.record(z.string().regex(OUTSIDE_ID), McpServer).optional(),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,255}$/), VariableValue).optional(),
  isolation: Isolation.optional(),
  images: z.array(Image).optional(),
  outputSchema: z.record(z.string(), z.unknown()).optional(),
  checkpointing: z.boolean().optional(),
  hooks: z.strictObject({ beforeToolCall: ToolHook.optional() }).optional(),
})
export type SessionOptions = z.infer<typeof SessionOptions>
