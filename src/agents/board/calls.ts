import type { Outcome } from '../../model/index.ts'
import type { Emitted } from '../agent.ts'
import { type Fields, text } from '../fields.ts'
import { settle } from '../settle.ts'
import { type Change, finishTool, startTool } from '../tools.ts'
import type { OpenCall, State } from './state.ts'
import { kindOf, mentions, resultOf, titleOf } from './tools.ts'

export function startCall(state: State, id: string, name: string, payload: Fields): Emitted {
  const input = payload.args
  state.calls.push({ toolId: id, name, input, callId: text(payload, 'toolId'), changes: [] })
  return startTool(state.ledger, { toolId: id, name, kind: kindOf(name), title: titleOf(input), input })
}

/** Results name no call, only a tool: the oldest open call of that tool is meant. */
export function finishCall(state: State, id: string, name: string, payload: Fields): Emitted[] {
  const callId = text(payload, 'toolId')
  const index = state.calls.findIndex((call) =>
    call.callId === undefined || callId === undefined ? call.name === name : call.callId === callId,
  )
  const [call] = index < 0 ? [] : state.calls.splice(index, 1)
  const result = resultOf(payload)
  if (!call) {
    // What a tool did is not to be lost because nobody heard it begin.
    const begun = startTool(state.ledger, { toolId: id, name, kind: kindOf(name) })
    return [begun, ...finishTool(state.ledger, id, result)]
  }
  const unproven = result.status === 'success' ? [] : call.changes.map(unprovenChange)
  return [...unproven, ...finishTool(state.ledger, call.toolId, result, call.changes)]
}

/** A change waits for the result of the call that made it. Where that cannot be told, it stands alone. */
export function change(state: State, told: Change): Emitted[] {
  const owner = ownerOf(state.calls, told.path)
  if (!owner) return [{ type: 'file.changed', ...told }]
  owner.changes.push(told)
  return []
}

function ownerOf(calls: readonly OpenCall[], file: string): OpenCall | undefined {
  return calls.length === 1 ? calls[0] : calls.find(({ input }) => mentions(input, file))
}

/** Closes what the board left open. */
export function settleCalls(state: State, outcome: Outcome): Emitted[] {
  const unproven = state.calls.splice(0).flatMap(({ changes }) => changes.map(unprovenChange))
  return [...unproven, ...settle(state.ledger, outcome, true)]
}

/** Told, but not as something that happened: its call failed, or never ended. */
function unprovenChange(told: Change): Emitted {
  const message = `${told.path}: a change was told whose call did not succeed`
  return { type: 'notice.raised', level: 'info', code: 'agent_warning', message, data: told }
}
