import * as z from 'zod'
import { ApprovalMode, SandboxMode } from '../../dialects/unified/unified-config.ts'
import { type Approval, ModelName, OUTSIDE_ID, type Policy, type Sandbox } from '../../model/index.ts'
import { ToolPolicy } from '../../model/session/policy.ts'
import { stripNulls } from '../http/body/json.ts'
import { named } from '../http/openapi/components.ts'

/** Product names, in lower case without punctuation, and the agent ids they map to. */
const PRODUCTS: ReadonlyMap<string, string> = new Map([
  ['claudecode', 'claude'],
  ['claudecli', 'claude'],
  ['codexcli', 'codex'],
  ['openaicodex', 'codex'],
  ['geminicli', 'gemini'],
  ['opencode', 'opencode'],
  ['opencodecli', 'opencode'],
])

/** Accepts an agent id or a product name in any spelling: `claude-code`, `claudeCode`. */
const AgentName = z
  .string()
  .regex(OUTSIDE_ID, 'not an agent id')
  .transform((name) => PRODUCTS.get(name.toLowerCase().replaceAll(/[._-]/g, '')) ?? name)

/** Counted in code points, as JSON Schema does: a surrogate pair is one character. */
const MAX_PROMPT = 100_000

const prompt = z
  .string()
  .min(1)
  .refine(isShort, `more than ${MAX_PROMPT} characters`)
  .meta({ maxLength: MAX_PROMPT })

function isShort(text: string): boolean {
  if (text.length <= MAX_PROMPT) return true
  return text.length <= 2 * MAX_PROMPT && [...text].length <= MAX_PROMPT
}

const projectId = z
  .string()
  .min(1)
  .max(200)
  .optional()
  .describe('a name in `projects` of the configuration, or any label if none are configured')

/** A request for a session in the board protocol. */
const BoardRequest = named('BoardRequest', z.strictObject({ agentId: AgentName, projectId, prompt }))

const BoardConfig = z.strictObject({
  agentType: AgentName.optional().describe('the same as the top-level field'),
  projectId,
  workingDirectory: z.string().min(1).max(4096).optional(),
  model: ModelName.optional(),
  approvalMode: ApprovalMode.optional(),
  sandboxMode: SandboxMode.optional(),
  allowedTools: ToolPolicy.shape.preapproved.describe('these tools run without approval'),
  blockedTools: ToolPolicy.shape.denied,
  maxTurns: z.int().min(1).max(1000).optional().describe('maximum number of model calls in one turn'),
})
export type BoardConfig = z.infer<typeof BoardConfig>

/** A request for a session, or for another prompt, in the unified protocol. */
const UnifiedRequest = named(
  'UnifiedRequest',
  z
    .strictObject({
      agentType: AgentName,
      prompt,
      sessionId: z.string().optional().describe('the session to continue'),
      config: z.preprocess(stripNulls, BoardConfig.optional()),
    })
    .refine(({ agentType, config }) => (config?.agentType ?? agentType) === agentType, {
      path: ['config', 'agentType'],
      error: 'differs from the top-level agentType',
    }),
)
export type UnifiedRequest = z.infer<typeof UnifiedRequest>

/** A request in either protocol. */
export const BoardSessionRequest = named(
  'SessionRequest',
  z.preprocess(stripNulls, z.union([BoardRequest, UnifiedRequest])),
)
export type BoardSessionRequest = z.infer<typeof BoardSessionRequest>

const APPROVALS: Record<ApprovalMode, Approval> = {
  ask: 'ask',
  askDangerous: 'ask-dangerous',
  autoEdit: 'auto-edit',
  autoAll: 'auto-all',
}

const SANDBOXES: Record<SandboxMode, Sandbox> = {
  none: 'none',
  readOnly: 'read-only',
  workspaceWrite: 'workspace-write',
  fullAccess: 'full-access',
}

/** Applies the policy fields of a session configuration to the policy. */
export function policyWith(base: Policy, config: BoardConfig): Policy {
  const { approvalMode, sandboxMode, allowedTools, blockedTools, maxTurns } = config
  const tools = {
    ...base.tools,
    ...(allowedTools && { preapproved: allowedTools }),
    ...(blockedTools && { denied: blockedTools }),
  }
  return {
    ...base,
    ...(approvalMode && { approval: APPROVALS[approvalMode] }),
    ...(sandboxMode && { sandbox: SANDBOXES[sandboxMode] }),
    ...(maxTurns !== undefined && { maxSteps: maxTurns }),
    ...((allowedTools || blockedTools) && { tools }),
  }
}
