import type { RequestOpened, RequestWithdrawn } from '../model/events/request.ts'
import type { Emitted } from './agent.ts'
import type { Ledger } from './ledger.ts'
import { toolIdOf } from './tools.ts'

/** Opens a request. The properties of its call come from the call, if that has started. */
export function openRequest(ledger: Ledger, request: Omit<RequestOpened, 'type' | 'inputDigest'>): Emitted {
  const { requestId, toolId, parent } = request
  ledger.requests.set(requestId, { toolId, parent })
  const tool = toolId === undefined ? undefined : ledger.tools.get(toolIdOf(ledger, toolId))
  return {
    type: 'request.opened',
    ...(tool && { toolKind: tool.kind }),
    ...(tool?.locations && { locations: [...tool.locations] }),
    ...request,
  }
}

/** Closes a request that we answered. */
export function closeRequest(ledger: Ledger, requestId: string): boolean {
  return ledger.requests.delete(requestId)
}

export function withdrawRequest(
  ledger: Ledger,
  requestId: string,
  reason: RequestWithdrawn['reason'],
  decision?: RequestWithdrawn['decision'],
): Emitted[] {
  if (!ledger.requests.delete(requestId)) return []
  return [{ type: 'request.withdrawn', requestId, reason, ...(decision && { decision }) }]
}
