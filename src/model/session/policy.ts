import * as z from 'zod'
import type * as types from './policy.types.ts'

/**
 * The requests that Mainstem approves without asking a person. `ask`: none. `ask-dangerous`: reads, searches and edits
 * inside the workspace. `auto-edit`: also deleting and moving files there. `auto-all`: everything.
 */
export const Approval = z.enum(['ask', 'ask-dangerous', 'auto-edit', 'auto-all'])
export type Approval = types.Approval

/** The agent's sandbox. `none` keeps the agent's own default; `full-access` switches its sandbox off. */
export const Sandbox = z.enum(['none', 'read-only', 'workspace-write', 'full-access'])
export type Sandbox = types.Sandbox

/** Tool names and rules reach an argv: no control characters, no leading dash. */
const toolName = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[^\p{Cc},-][^\p{Cc},]*$/u)

/** Rules for tools, by canonical names (`execute`, `mcp:docs/search`) or by the agent's own. */
export const ToolPolicy = z.strictObject({
  available: z.array(toolName).optional().describe('Removes all other tools.'),
  preapproved: z.array(toolName).optional().describe('Tools that run without asking.'),
  denied: z.array(toolName).optional().describe('Tools that never run.'),
})

/** What an agent may do in a session. A rule that the agent cannot enforce is refused before the agent starts. */
export const Policy = z.strictObject({
  approval: Approval.describe('The requests that are approved without asking a person.'),
  sandbox: Sandbox.describe("The agent's sandbox."),
  network: z.boolean().optional().describe('Whether sandboxed commands may use the network.'),
  writableRoots: z
    .array(z.string())
    .optional()
    .describe('Directories that sandboxed commands may write to, besides the workspace.'),
  tools: ToolPolicy.optional().describe('Rules for single tools.'),
  maxSteps: z
    .int()
    .positive()
    .optional()
    .describe('The most model calls of the main thread in one turn; the turn stops before the next one.'),
  maxBudgetUsd: z
    .number()
    .positive()
    .optional()
    .describe('The highest cost of one turn, sub-agents included.'),
  timeoutMs: z.int().positive().optional().describe('The longest duration of one turn, in milliseconds.'),
  idleTimeoutMs: z
    .int()
    .positive()
    .optional()
    .describe('The longest silence inside a turn, in milliseconds.'),
})
export type Policy = types.Policy

/** The policy of a session that names none: a person approves every request. */
export const DEFAULT_POLICY: Policy = { approval: 'ask', sandbox: 'none' }
