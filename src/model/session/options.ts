import * as z from 'zod'
import { OUTSIDE_ID } from '../ids.ts'
import { ContinuationCaps, OnLimit } from './continuation.ts'
import type * as types from './options.types.ts'

/**
 * The name of a model. Model names reach an argv: a letter or digit first, no spaces, no control characters. Some agents
 * add an effort in brackets or a provider in parentheses.
 */
export const ModelName = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:/@()[\]-]*$/)

/** An agent's own name of a mode. It reaches an argv: no flag, no control or invisible characters. */
export const ModeName = z
  .string()
  .max(200)
  .regex(/^[^-\s\p{C}][^\p{C}\p{Zl}\p{Zp}]*$/u, 'not the name of a mode')

/** A Model Context Protocol server: a command that the agent starts, or a URL that it connects to. */
export const McpServer = z.strictObject({
  command: z.string().optional().describe('The program to start.'),
  args: z.array(z.string()).optional().describe('The arguments of the program.'),
  url: z.string().optional().describe('The URL of a remote server.'),
  headers: z.record(z.string(), z.string()).optional().describe('HTTP headers for a remote server.'),
  env: z.record(z.string(), z.string()).optional().describe('Environment variables of the program.'),
  trust: z.boolean().optional().describe('Runs the tools of this server without asking.'),
  includeTools: z.array(z.string()).optional().describe('Offers only these tools of the server.'),
  excludeTools: z.array(z.string()).optional().describe('Hides these tools of the server.'),
})
export type McpServer = types.McpServer

/** An image of a prompt. */
export const Image = z.strictObject({
  mimeType: z
    .string()
    .regex(/^image\//)
    .describe('The media type, such as `image/png`.'),
  data: z.base64().describe('The bytes in base64.'),
})
export type Image = types.Image

/** The largest value that the operating system accepts for a variable of a process. */
const VariableValue = z
  .string()
  .max(32_768)
  .refine((value) => !value.includes('\0'), 'contains a NUL character')

/** Variables of a process by name. */
export const Variables = z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,255}$/), VariableValue)

/** The settings that the agent loads: `user` all, `no-project` all but those of the repository, `bare` none. */
export const Isolation = z.enum(['user', 'no-project', 'bare'])

/** A command that decides on tool calls: it reads the request as JSON on stdin; exit code 0 allows, all else denies. */
export const ToolHook = z.strictObject({
  command: z.array(z.string()).min(1).describe('The program and its arguments.'),
  timeoutMs: z.int().positive().optional().describe('Milliseconds to wait; a timeout denies.'),
})
export type ToolHook = types.ToolHook

/** Changes of the agent's system prompt. */
export const SystemPrompt = z.strictObject({
  append: z.string().optional().describe("Text to add to the agent's own system prompt."),
  replace: z.string().optional().describe("Text to use instead of the agent's own system prompt."),
})

/** Commands that run at points of a session. */
export const SessionHooks = z.strictObject({
  beforeToolCall: ToolHook.optional().describe('Decides on every tool call that the agent asks about.'),
})

/** A sub-agent that the agent may use in this session. */
export const SubagentDefinition = z.strictObject({
  description: z.string().min(1).describe('When the agent should use it.'),
  prompt: z.string().min(1).describe('Its instructions.'),
  model: ModelName.optional().describe('Its model; by default that of the session.'),
})
export type SubagentDefinition = types.SubagentDefinition

/** Options of a session. An option that the agent does not support is refused before the agent starts. */
export const SessionOptions = z.strictObject({
  model: ModelName.optional().describe('The model to use.'),
  fallbackModel: ModelName.optional().describe('The model to use while the other one is overloaded.'),
  effort: z.string().regex(OUTSIDE_ID).optional().describe("The agent's own name of a reasoning effort."),
  systemPrompt: SystemPrompt.optional().describe("Changes of the agent's system prompt."),
  extraDirectories: z
    .array(z.string())
    .optional()
    .describe('Directories that the agent may use besides its working directory.'),
  mcpServers: z
    .record(z.string().regex(OUTSIDE_ID), McpServer)
    .optional()
    .describe('Model Context Protocol servers by name.'),
  subagents: z
    .record(z.string().regex(OUTSIDE_ID), SubagentDefinition)
    .optional()
    .describe('Sub-agents by name, besides those of the agent and its settings.'),
  skills: z
    .array(z.string().regex(/^[^-\0][^\0]*$/, 'must be a path that does not start with "-"'))
    .max(100)
    .optional()
    .describe('Directories of skills, each with a file `SKILL.md`, besides those of the settings.'),
  env: Variables.optional().describe("Environment variables for the agent's process."),
  isolation: Isolation.optional().describe('The settings that the agent loads.'),
  images: z.array(Image).optional().describe('Images for the first prompt.'),
  outputSchema: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('A JSON Schema that the final answer must follow.'),
  checkpointing: z
    .boolean()
    .optional()
    .describe(
      'Saves the files before the agent changes them, so that `rewind` can restore them. Claude Code does so by default.',
    ),
  hooks: SessionHooks.optional().describe('Commands that run at points of the session.'),
  onLost: z
    .enum(['fail', 'continue'])
    .optional()
    .describe(
      '`continue`: when the process or the server of a turn goes away, the session continues by itself; `fail` by default.',
    ),
  onLimit: OnLimit.optional().describe(
    'What happens when a usage limit ends a turn: `fail` by default; `wait` continues by itself after the limit has reset.',
  ),
  continuations: ContinuationCaps.optional().describe('Caps for `onLost` and `onLimit`.'),
})
export type SessionOptions = types.SessionOptions
