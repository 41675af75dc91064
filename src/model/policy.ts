import { z } from 'zod'

/** What we answer for the user when an agent asks. */
export const Approval = z.enum(['ask', 'ask-dangerous', 'auto-edit', 'auto-all'])
export type Approval = z.infer<typeof Approval>

/** `none` passes nothing: the agent's own default holds. `full-access` switches its sandbox off. */
export const Sandbox = z.enum(['none', 'read-only', 'workspace-write', 'full-access'])
export type Sandbox = z.infer<typeof Sandbox>

/** Tool names and rules reach an argv: no control characters, no leading dash. */
const toolName = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[^\p{Cc},-][^\p{Cc},]*$/u)

export const ToolPolicy = z.strictObject({
  available: z.array(toolName).optional().describe('only these tools exist'),
  preapproved: z.array(toolName).optional().describe('these run without asking'),
  denied: z.array(toolName).optional().describe('these never run'),
})

export const Policy = z.strictObject({
  approval: Approval,
  sandbox: Sandbox,
  network: z.boolean().optional(),
  writableRoots: z.array(z.string()).optional(),
  tools: ToolPolicy.optional(),
  maxSteps: z
    .int()
    .positive()
    .optional()
    .describe('model calls of the main thread in one turn; the turn stops before the next one'),
  maxBudgetUsd: z.number().positive().optional().describe('cost of one turn, sub-agents included'),
  timeoutMs: z.int().positive().optional().describe('one turn, from prompt to outcome'),
  idleTimeoutMs: z.int().positive().optional().describe('silence inside a turn'),
})
export type Policy = z.infer<typeof Policy>

/** Nobody is asked to trust us by default. */
export const DEFAULT_POLICY: Policy = { approval: 'ask', sandbox: 'none' }
