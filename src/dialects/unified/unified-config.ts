import * as z from 'zod'
import type * as types from './unified-config.types.ts'

/** The tool calls that need approval. */
export const ApprovalMode = z.enum(['ask', 'askDangerous', 'autoEdit', 'autoAll'])
export type ApprovalMode = types.ApprovalMode

/** The agent's sandbox. */
export const SandboxMode = z.enum(['none', 'readOnly', 'workspaceWrite', 'fullAccess'])
export type SandboxMode = types.SandboxMode

const names = z.array(z.string()).optional()

/** The configuration of a session, as far as it is known. */
export const SessionConfig = z.strictObject({
  agentType: z.string().describe('The id of the agent.'),
  projectId: z.string().optional().describe('The project that the client named.'),
  workingDirectory: z.string().optional().describe("The agent's working directory."),
  model: z.string().optional().describe('The model.'),
  approvalMode: ApprovalMode.optional().describe('The tool calls that need approval.'),
  sandboxMode: SandboxMode.optional().describe("The agent's sandbox."),
  allowedTools: names.describe('Tools that run without asking.'),
  blockedTools: names.describe('Tools that never run.'),
  maxTurns: z.int().positive().optional().describe('The most model calls in one turn.'),
})

const tokens = z.int().nonnegative()

/** Token counts of a turn. */
export const TokenUsage = z.strictObject({
  inputTokens: tokens.describe('Input tokens, cached ones included.'),
  outputTokens: tokens.describe('Output tokens, those of the reasoning included.'),
  cachedTokens: tokens.optional().describe('Input tokens that were read from a cache.'),
  reasoningTokens: tokens.optional().describe('Output tokens of the reasoning.'),
  totalTokens: tokens.describe('Input and output tokens.'),
})
export type TokenUsage = types.TokenUsage
