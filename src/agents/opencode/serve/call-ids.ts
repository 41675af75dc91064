import type { State } from './state.ts'
import type { Thread } from './thread.ts'

/** The id of the call that a request is about: a running call, or one that has not started and will use this id. */
export function askedId(state: State, thread: Thread, callId: string): string {
  const given = state.callIds.get(keyOf(thread, callId))
  if (given !== undefined && !state.ledger.closedTools.has(given)) return given
  const id = give(state, thread, callId)
  state.awaited.add(id)
  return id
}

/** The id of the call that starts now. */
export function startedId(state: State, thread: Thread, callId: string): string {
  const given = state.callIds.get(keyOf(thread, callId))
  return given !== undefined && state.awaited.delete(given) ? given : give(state, thread, callId)
}

function keyOf(thread: Thread, callId: string): string {
  return `${thread.id} ${callId}`
}

/** Some providers restart the call numbers with each answer, so each call gets a unique id. */
function give(state: State, thread: Thread, callId: string): string {
  const { awaited, ledger } = state
  const { tools, closedTools } = ledger
  let id = callId
  for (let n = 2; tools.has(id) || closedTools.has(id) || awaited.has(id); n++) id = `${callId}~${n}`
  state.callIds.set(keyOf(thread, callId), id)
  return id
}
