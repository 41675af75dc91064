import type { RequestOpened } from '../model/events/request.ts'
import type { AnswerCommand, Approval, Policy, ToolKind } from '../model/index.ts'

/** What an answer depends on besides the request itself. */
export interface Circumstances {
  policy: Policy
  /** Is somebody there to be asked? */
  attended: boolean
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
 * What the policy answers for the user; nothing when a person is to be asked. A question is a person's to answer,
 * and with nobody there whatever is left is refused, never approved.
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
  const { policy, attended } = circumstances
  const refusal = forbidden(request, policy)
  if (refusal !== undefined) return deny(refusal)
  if (isAllowed(request, circumstances)) {
    return { type: 'answer', requestId, decision: 'allow', scope: 'once', by: 'policy' }
  }
  return attended ? undefined : deny('nobody is there to answer')
}

function forbidden({ kind, tool }: RequestOpened, { sandbox, tools }: Policy): string | undefined {
  if (tool !== undefined && tools?.denied?.includes(tool)) return `the policy denies ${tool}`
  // Agents leave their read-only mode when a plan is approved.
  if (kind === 'plan' && sandbox === 'read-only')
    return 'the policy is read-only, so the plan is not carried out'
  return undefined
}

function isAllowed(request: RequestOpened, { policy, isInside }: Circumstances): boolean {
  const { kind, tool, toolKind, locations } = request
  if (kind !== 'permission' && kind !== 'plan') return false
  // Some agents hold read-only by asking, so allowing what they ask would let go of it.
  if (policy.sandbox === 'read-only' && (toolKind === undefined || !HARMLESS.includes(toolKind))) return false
  const allowed = ALLOWED[policy.approval]
  if (allowed === 'everything') return true
  if (kind === 'plan') return false
  if (tool !== undefined && policy.tools?.preapproved?.includes(tool)) return true
  if (toolKind === undefined) return false
  if (allowed.anywhere.includes(toolKind)) return true
  // Files that are not named cannot be known to be inside.
  if (!allowed.inside.includes(toolKind) || !locations || locations.length === 0) return false
  return locations.every(({ path }) => isInside(path))
}
