import type { NamedCall, ToolNames } from '../../agents/agent.ts'
import type { RequestOpened } from '../../model/events/request.ts'
import type { AnswerCommand, Approval, Policy, Scope, ToolKind } from '../../model/index.ts'
import { offeredScopes } from '../../model/request/offered-scopes.ts'
import { canonicalKind } from '../../model/request/tool.ts'

/** The facts besides the request that an answer depends on. */
export interface ApprovalContext {
  policy: Policy
  /** A hook decides tool calls. */
  hooked?: boolean
  /** A person can answer. */
  attended: boolean
  /** Matches calls of the agent with the names in tool lists; by equality if absent. */
  means?: ToolNames['means'] | undefined
  /** Calls that `tools.available` leaves out are denied, because the agent cannot remove all such tools. */
  deniesUnlisted?: true | undefined
  /** Whether the file is inside the workspace, with every link resolved. */
  isInside(path: string): boolean
}

/** Kinds that change nothing. */
const HARMLESS: readonly ToolKind[] = ['read', 'search', 'think']

/** The kinds that run without a question: anywhere, and inside the workspace only. */
const ALLOWED: Record<
  Approval,
  { anywhere: readonly ToolKind[]; inside: readonly ToolKind[] } | 'everything'
> = {
  ask: { anywhere: [], inside: [] },
  'ask-dangerous': { anywhere: HARMLESS, inside: ['edit'] },
  'auto-edit': { anywhere: HARMLESS, inside: ['edit', 'delete', 'move'] },
  'auto-all': 'everything',
}

/**
 * Returns the answer that the policy gives for the user, or undefined if a hook or a person decides. Only a person
 * answers questions. If no person can answer, the remaining requests are denied, never approved.
 */
export function answerFor(request: RequestOpened, context: ApprovalContext): AnswerCommand | undefined {
  const { requestId } = request
  const deny = (message: string): AnswerCommand => ({
    type: 'answer',
    requestId,
    decision: 'deny',
    message,
    by: 'policy',
  })
  const refusal = forbidden(request, context)
  if (refusal !== undefined) return deny(refusal)
  if (isForHook(request, context)) return undefined
  const scope = isAllowed(request, context) ? allowedScope(request, context.policy) : undefined
  if (scope) return { type: 'answer', requestId, decision: 'allow', scope, by: 'policy' }
  return context.attended ? undefined : deny('no person can answer')
}

/** Prefers `once`. A wider scope is chosen only if the policy allows everything anyway. */
function allowedScope(request: RequestOpened, { approval }: Policy): Scope | undefined {
  const [narrowest] = offeredScopes(request)
  return narrowest === 'once' || approval === 'auto-all' ? narrowest : undefined
}

/** Names the decider of a request that no person decides; `nobody` if it needs a person and none can answer. */
export function answeredBy(
  request: RequestOpened,
  context: ApprovalContext,
): 'policy' | 'hook' | 'nobody' | undefined {
  if (isForHook(request, context)) return 'hook'
  if (answerFor(request, { ...context, attended: true })) return 'policy'
  return context.attended ? undefined : 'nobody'
}

/** A hook decides every permission that the policy does not deny. */
export function isForHook(request: RequestOpened, context: ApprovalContext): boolean {
  const { hooked = false } = context
  return hooked && request.kind === 'permission' && forbidden(request, context) === undefined
}

/** Whether a tool list names the call of this request, by kind or by any of its names. */
function isListed(
  names: readonly string[] = [],
  call: NamedCall,
  { means = plainToolNames.means }: ApprovalContext,
): boolean {
  return names.some((name) => means(name, call))
}

/** A tool list names what the agent asks for beyond the call by its own name only. */
function permissionOf({ permission, tool, toolKind }: RequestOpened): NamedCall {
  return permission === undefined ? { tool, toolKind } : { tool: permission }
}

function forbidden(request: RequestOpened, context: ApprovalContext): string | undefined {
  const { policy, hooked } = context
  const { kind, tool, toolKind } = request
  const { sandbox, tools } = policy
  for (const call of [{ tool, toolKind }, permissionOf(request)])
    if (isListed(tools?.denied, call, context)) return `the policy denies ${call.tool ?? toolKind}`
  if (isLeftOut(request, context)) return `the policy does not offer ${tool ?? toolKind}`
  // Agents leave their read-only mode when a plan is approved.
  if (kind === 'plan' && sandbox === 'read-only')
    return 'the policy is read-only, so the plan is not carried out'
  // A person may make an exception. A hook must not: it would widen the policy without a person.
  if (hooked && kind === 'permission' && violatesReadOnly(request, policy)) return 'the policy is read-only'
  return undefined
}

function isLeftOut({ kind, tool, toolKind, permission }: RequestOpened, context: ApprovalContext): boolean {
  const available = context.policy.tools?.available
  if (!available || !context.deniesUnlisted || kind !== 'permission' || permission !== undefined) return false
  return !isListed(available, { tool, toolKind }, context)
}

/** Some agents enforce read-only by asking, so approving their request would break it. */
function violatesReadOnly({ toolKind, permission }: RequestOpened, { sandbox }: Policy): boolean {
  const isHarmless = permission === undefined && toolKind !== undefined && HARMLESS.includes(toolKind)
  return sandbox === 'read-only' && !isHarmless
}

function isAllowed(request: RequestOpened, context: ApprovalContext): boolean {
  const { policy, isInside } = context
  const { kind, toolKind, locations, permission } = request
  if (kind !== 'permission' && kind !== 'plan') return false
  if (violatesReadOnly(request, policy)) return false
  const allowed = ALLOWED[policy.approval]
  if (allowed === 'everything') return true
  if (kind === 'plan') return false
  if (isListed(policy.tools?.preapproved, permissionOf(request), context)) return true
  if (toolKind === undefined || permission !== undefined) return false
  if (allowed.anywhere.includes(toolKind)) return true
  // Without file names, the call cannot be shown to stay inside the workspace.
  if (!allowed.inside.includes(toolKind) || !locations || locations.length === 0) return false
  return locations.every(({ path }) => isInside(path))
}

/** The names of an agent without a table of its tools: its own, and their kinds. */
export const plainToolNames: ToolNames = {
  means: (name, { tool, toolKind }) => name === tool || name === toolKind,
  canonical: ({ tool = '', toolKind }) => canonicalKind(toolKind) ?? tool,
}
