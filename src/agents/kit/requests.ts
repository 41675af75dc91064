import type { RequestWithdrawn } from '../../model/events/request.ts'
import { type AnswerCommand, type Decider, Decision } from '../../model/index.ts'
import type { Decoded, Emitted, Start } from '../agent.ts'
import { sameValue } from './fields.ts'
import { countUse, idAfter, type Ledger, type NewRequest } from './ledger.ts'
import { toolIdOf } from './tools.ts'

/**
 * Opens a request. An open request under the same id is replaced, because the next answer under that id decides the new
 * one; an equal request is a repetition and emits nothing. `ask` is what the codec needs to encode the answer.
 */
export function openRequest<Ask>(ledger: Ledger<Ask>, request: NewRequest, ask: Ask): Emitted[] {
  const { requestId } = request
  const earlier = ledger.requests.get(requestId)
  if (earlier && sameValue(earlier.asked, request)) {
    earlier.ask = ask
    return []
  }
  const replaced = withdrawRequest(ledger, requestId, 'replaced')
  ledger.requests.set(requestId, { asked: request, ask })
  return [...replaced, ...showCall(ledger, request)]
}

/**
 * A request about a started call has the name and the input of that call: an input that the request gives is the call's
 * latest one, and corrects it.
 */
function showCall(ledger: Ledger, request: NewRequest): Emitted[] {
  const { toolId } = request
  const call = toolId === undefined ? undefined : ledger.tools.get(toolIdOf(ledger, toolId))
  if (!call) return [{ type: 'request.opened', ...request }]
  const { input = call.input } = request
  const opened: Emitted = {
    type: 'request.opened',
    toolKind: call.kind,
    ...(call.locations && { locations: [...call.locations] }),
    ...request,
    tool: call.name,
    ...(input !== undefined && { input }),
  }
  if (sameValue(input, call.input)) return [opened]
  call.input = input
  return [{ type: 'tool.updated', toolId: call.toolId, input }, opened]
}

/**
 * Reports a denial that was encoded for an answer whose decision does not exist. Sessions refuse such answers; encoders
 * approve on `allow` and `answered` only, in case one comes through.
 */
export function withDenialNotice(step: Decoded, { requestId, decision }: AnswerCommand): Decoded {
  if (Decision.safeParse(decision).success) return step
  const message = `request ${requestId} was denied, because its answer has no valid decision`
  const notice: Emitted = { type: 'notice.raised', level: 'error', code: 'answer_invalid', message }
  return { ...step, emitted: [...step.emitted, notice] }
}

/** Who denied a request: no person, if the decision does not exist. */
export function denierOf({ decision, by = 'person' }: AnswerCommand): Decider {
  return decision === 'deny' ? by : 'policy'
}

/** The ask of an open request. */
export function askOf<Ask>(ledger: Ledger<Ask>, requestId: string): Ask | undefined {
  return ledger.requests.get(requestId)?.ask
}

/** The open request with this native id. */
export function askByNativeId<Ask extends { nativeId: unknown }>(
  ledger: Ledger<Ask>,
  nativeId: unknown,
): [requestId: string, ask: Ask] | undefined {
  for (const [requestId, { ask }] of ledger.requests) if (ask.nativeId === nativeId) return [requestId, ask]
  return undefined
}

/** Request ids restart with each process. */
export function requestIdOf({ epoch }: Start, nativeId: unknown): string {
  return `e${epoch}.${String(nativeId)}`
}

/** The id of a new request of an agent that reuses ids: an answered one gets a suffix, an open one is replaced. */
export function nextRequestId(
  ledger: Ledger<{ nativeId: unknown }>,
  start: Start,
  nativeId: unknown,
): string {
  const [open] = askByNativeId(ledger, nativeId) ?? []
  if (open !== undefined) return open
  const id = requestIdOf(start, nativeId)
  return idAfter(id, countUse(ledger.openedRequests, id))
}

/** Closes a request that was answered, and returns its ask. */
export function closeRequest<Ask>(ledger: Ledger<Ask>, requestId: string): Ask | undefined {
  const ask = askOf(ledger, requestId)
  ledger.requests.delete(requestId)
  return ask
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
