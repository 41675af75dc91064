import type { SessionThread } from '../threads.ts'
import type { ServeState } from './state.ts'

/** The id of the call, if it runs. */
export function runningId(state: ServeState, thread: SessionThread, callId: string): string | undefined {
  const given = state.turn.callIds.get(keyOf(thread, callId))
  return given !== undefined && state.ledger.tools.has(given) ? given : undefined
}

/** The id of the call that a request is about: a running call, or one that has not started and will use this id. */
export function askedId(state: ServeState, thread: SessionThread, callId: string): string {
  const given = state.turn.callIds.get(keyOf(thread, callId))
  if (given !== undefined && !state.ledger.closedTools.has(given)) return given
  const id = give(state, thread, callId)
  state.turn.awaited.add(id)
  return id
}

/** The id of the call that starts now. */
export function startedId(state: ServeState, thread: SessionThread, callId: string): string {
  const given = state.turn.callIds.get(keyOf(thread, callId))
  return given !== undefined && state.turn.awaited.delete(given) ? given : give(state, thread, callId)
}

function keyOf(thread: SessionThread, callId: string): string {
  return `${thread.id} ${callId}`
}

/** Some providers restart the call numbers with each answer, so each call gets a unique id. */
function give(state: ServeState, thread: SessionThread, callId: string): string {
  const { awaited } = state.turn
  const { tools, closedTools } = state.ledger
  let id = callId
  for (let n = 2; tools.has(id) || closedTools.has(id) || awaited.has(id); n++) id = `${callId}~${n}`
  state.turn.callIds.set(keyOf(thread, callId), id)
  return id
}
