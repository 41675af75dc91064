import type { RequestWithdrawn } from '../../model/events/request.ts'
import type { Decision, DeniedBy, RequestOption } from '../../model/index.ts'
import type { Emitted, Start } from '../agent.ts'
import type { Ledger, NewRequest } from '../kit/ledger.ts'
import { openRequest, requestIdOf } from '../kit/requests.ts'
import { refuseTool } from '../kit/tools.ts'
import { announce, type SessionThread } from './threads.ts'

export const ONCE: RequestOption = {
  id: 'once',
  label: 'Allow once',
  effect: 'allow',
  scope: 'once',
  default: true,
}
export const REJECT: RequestOption = { id: 'reject', label: 'Deny', effect: 'deny', scope: 'once' }

/** What the answer to a request needs, in either server. */
export interface AnyAsk {
  readonly nativeId: string
  readonly kind: 'permission' | 'question'
  readonly toolId: string | undefined
  /** The decision that follows from our answer to another request. */
  follows?: Decision
}

export type RequestParts = Omit<NewRequest, 'requestId' | 'kind' | 'blocking' | 'toolId' | 'parent'>

/** Opens a request of a thread. */
export function openAsk<Ask extends AnyAsk>(
  { start, ledger }: { readonly start: Start; readonly ledger: Ledger<Ask> },
  thread: SessionThread,
  ask: Ask,
  parts: RequestParts,
): Emitted[] {
  const { nativeId, kind, toolId } = ask
  const request: NewRequest = {
    requestId: requestIdOf(start, nativeId),
    kind,
    blocking: true,
    ...parts,
    ...(toolId !== undefined && { toolId }),
    ...(thread.speaker !== undefined && { parent: thread.speaker }),
  }
  return [...announce({ ledger }, thread), ...openRequest(ledger, request, ask)]
}

/** Why a request is closed that we have not answered: another client decided it, or it followed from another answer. */
export function withdrawalOf(
  { follows }: AnyAsk,
  decision: Decision,
  isAborted: boolean,
): RequestWithdrawn['reason'] {
  if (isAborted && decision === 'deny') return 'interrupted'
  return follows === decision ? 'agent' : 'answered_elsewhere'
}

/** A call that has ended was not denied: a later call with its id must not inherit the denial. */
export function refuseAsked({ ledger }: { readonly ledger: Ledger }, { toolId }: AnyAsk, by: DeniedBy): void {
  if (toolId !== undefined && !ledger.closedTools.has(toolId)) refuseTool(ledger, toolId, by)
}
