import { z } from 'zod'
import { Outcome, ToolStatus } from '../model/index.ts'
import { ClosedRequest, OpenRequest } from './open-request.ts'
import { UsagePartial } from './usage-partial.ts'

export const ApprovalMode = z.enum(['ask', 'askDangerous', 'autoEdit', 'autoAll'])
export type ApprovalMode = z.infer<typeof ApprovalMode>

export const SandboxMode = z.enum(['none', 'readOnly', 'workspaceWrite', 'fullAccess'])
export type SandboxMode = z.infer<typeof SandboxMode>

const names = z.array(z.string()).optional()

const SessionConfig = z.strictObject({
  agentType: z.string(),
  projectId: z.string().optional(),
  workingDirectory: z.string().optional(),
  model: z.string().optional(),
  approvalMode: ApprovalMode.optional(),
  sandboxMode: SandboxMode.optional(),
  allowedTools: names,
  blockedTools: names,
  maxTurns: z.int().positive().optional(),
})

const tokens = z.int().nonnegative()

export const TokenUsage = z.strictObject({
  inputTokens: tokens,
  outputTokens: tokens,
  cachedTokens: tokens.optional(),
  reasoningTokens: tokens.optional(),
  totalTokens: tokens,
})
export type TokenUsage = z.infer<typeof TokenUsage>

const outcome = Outcome.exclude(['completed'])

const reason = {
  code: z.string().optional().describe('the error code in camel case, if the reason is known'),
  nativeError: z.string().optional().describe("the agent's native error"),
}

const message = <Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) =>
  z.strictObject({
    id: z.string(),
    sessionId: z.uuid(),
    timestamp: z.iso.datetime(),
    type: z.literal(type),
    ...fields,
  })

/** Types that the protocol does not define. Clients skip types they do not know. */
export const EXTENSIONS: ReadonlySet<string> = new Set(['requestOpened', 'requestClosed'])

/** The events of the unified protocol: the documented fields, plus a few extensions with a description each. */
export const AgentEvent = z.discriminatedUnion('type', [
  message('sessionStarted', {
    agentType: z.string(),
    nativeSessionId: z.string().optional().describe("the agent's session id, if already known"),
    config: SessionConfig.describe('the known fields; a server knows every field that is set'),
  }),
  message('turnStarted', { turnNumber: z.int().positive(), prompt: z.string() }),
  message('textChunk', { content: z.string(), isComplete: z.boolean() }),
  message('toolStarted', {
    toolId: z.string(),
    toolName: z.string(),
    arguments: z.record(z.string(), z.unknown()),
  }),
  message('toolProgress', {
    toolId: z.string(),
    output: z.string().optional(),
    progress: z.number().min(0).max(1).optional(),
  }),
  message('toolFailed', { toolId: z.string(), error: z.string() }),
  message('toolCompleted', {
    toolId: z.string(),
    success: z.boolean(),
    result: z.unknown().optional(),
    error: z.string().optional(),
    status: ToolStatus.exclude(['success']).optional().describe('the exact status of the failure'),
  }),
  message('fileChanged', {
    filePath: z.string(),
    changeType: z.enum(['created', 'modified', 'deleted']),
    diff: z.string().optional(),
    before: z.string().optional(),
    after: z.string().optional(),
  }),
  message('turnCompleted', {
    turnNumber: z.int().positive(),
    usage: TokenUsage,
    durationMs: tokens,
    usageReported: z
      .literal(false)
      .optional()
      .describe('the agent reported no usage; the zeros are not counts'),
    usagePartial: UsagePartial.optional(),
  }),
  message('turnFailed', {
    turnNumber: z.int().positive(),
    error: z.string(),
    ...reason,
    outcome: outcome.describe('the exact outcome'),
    usage: TokenUsage.optional().describe('if the agent reported it'),
    usagePartial: UsagePartial.optional(),
    durationMs: tokens,
  }),
  message('requestOpened', OpenRequest.shape),
  message('requestClosed', ClosedRequest.shape),
  message('error', { message: z.string(), code: z.string(), nativeError: z.string().optional() }),
  message('sessionEnded', {
    reason: z.enum(['completed', 'failed', 'cancelled', 'timeout']),
    error: z.string().optional(),
    ...reason,
    outcome: outcome.optional().describe('the exact outcome; absent on success'),
  }),
])
export type AgentEvent = z.infer<typeof AgentEvent>

type BodyOf<Emitted> = Emitted extends AgentEvent ? Omit<Emitted, 'id' | 'sessionId' | 'timestamp'> : never

/** A message without its common fields. */
export type Body = BodyOf<AgentEvent>
