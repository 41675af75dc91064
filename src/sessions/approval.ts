import type { ToolNames } from '../agents/agent.ts'
import type { RequestOpened } from '../model/events/request.ts'
import { type AnswerCommand, type Approval, type Policy, Scope, type ToolKind } from '../model/index.ts'

/** What an answer depends on besides the request itself. */
export interface Circumstances {
  policy: Policy
  /** Is there a hook that decides tool calls? */
  hooked?: boolean
  /** Is somebody there to be asked? */
  attended: boolean
  /** How the agent's calls are matched with the names of tool lists; as they are where it is absent. */
  means?: ToolNames['means'] | undefined
  /** Is this file inside the workspace, with every link followed? */
  isInside(path: string): boolean
}

/** What changes nothing. */
const HARMLESS: readonly ToolKind[] = ['read', 'search', 'think']

/** What runs without asking: anywhere, and inside the workspace only. */
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
 * What the policy answers for the user; nothing when a hook or a person is to be asked. A question is a person's to
 * answer, and with nobody there whatever is left is refused, never approved.
 */
export function answerFor(request: RequestOpened, circumstances: Circumstances): AnswerCommand | undefined {
  const { requestId } = request
  const deny = (message: string): AnswerCommand => ({
    type: 'answer',
    requestId,
    decision: 'deny',
    message,
    by: 'policy',
  })
  const refusal = forbidden(request, circumstances)
  if (refusal !== undefined) return deny(refusal)
  if (isForHook(request, circumstances)) return undefined
  const scope = isAllowed(request, circumstances) ? allowedScope(request, circumstances.policy) : undefined
  if (scope) return { type: 'answer', requestId, decision: 'allow', scope, by: 'policy' }
  return circumstances.attended ? undefined : deny('nobody is there to answer')
}

/** Once, where that is offered; more than once only where everything is allowed anyway. */
function allowedScope({ options }: RequestOpened, { approval }: Policy): Scope | undefined {
  const offered = options.filter(({ effect }) => effect === 'allow').map(({ scope }) => scope)
  if (offered.length === 0 || offered.includes('once')) return 'once'
  return approval === 'auto-all' ? Scope.options.find((scope) => offered.includes(scope)) : undefined
}

/** Who answers instead of a person; `nobody` where a person is needed and none is there. */
export function answeredBy(
  request: RequestOpened,
  circumstances: Circumstances,
): 'policy' | 'hook' | 'nobody' | undefined {
  if (isForHook(request, circumstances)) return 'hook'
  if (answerFor(request, { ...circumstances, attended: true })) return 'policy'
  return circumstances.attended ? undefined : 'nobody'
}

/** What the policy denies stays denied; every other permission is decided by the hook, where there is one. */
export function isForHook(request: RequestOpened, circumstances: Circumstances): boolean {
  const { hooked = false } = circumstances
  return hooked && request.kind === 'permission' && forbidden(request, circumstances) === undefined
}

/** Is the call of this request in a tool list, by its kind or by any name of it? */
function isListed(
  names: readonly string[] = [],
  { tool, toolKind }: RequestOpened,
  { means = asTheyAre }: Circumstances,
): boolean {
  return names.some((name) => means(name, { tool, toolKind }))
}

const asTheyAre: ToolNames['means'] = (name, { tool, toolKind }) => name === tool || name === toolKind

function forbidden(request: RequestOpened, circumstances: Circumstances): string | undefined {
  const { policy, hooked } = circumstances
  const { kind, tool, toolKind } = request
  const { sandbox, tools } = policy
  if (isListed(tools?.denied, request, circumstances)) return `the policy denies ${tool ?? toolKind}`
  // Agents leave their read-only mode when a plan is approved.
  if (kind === 'plan' && sandbox === 'read-only')
    return 'the policy is read-only, so the plan is not carried out'
  // A person may make an exception. A hook decides alone, and must not let go of what was asked for.
  if (hooked && kind === 'permission' && breaksReadOnly(request, policy)) return 'the policy is read-only'
  return undefined
}

/** Some agents hold read-only by asking, so allowing what they ask would let go of it. */
function breaksReadOnly({ toolKind }: RequestOpened, { sandbox }: Policy): boolean {
  return sandbox === 'read-only' && (toolKind === undefined || !HARMLESS.includes(toolKind))
}

function isAllowed(request: RequestOpened, circumstances: Circumstances): boolean {
  const { policy, isInside } = circumstances
  const { kind, toolKind, locations } = request
  if (kind !== 'permission' && kind !== 'plan') return false
  if (breaksReadOnly(request, policy)) return false
  const allowed = ALLOWED[policy.approval]
  if (allowed === 'everything') return true
  if (kind === 'plan') return false
  if (isListed(policy.tools?.preapproved, request, circumstances)) return true
  if (toolKind === undefined) return false
  if (allowed.anywhere.includes(toolKind)) return true
  // Files that are not named cannot be known to be inside.
  if (!allowed.inside.includes(toolKind) || !locations || locations.length === 0) return false
  return locations.every(({ path }) => isInside(path))
}
