import type { Outcome } from '../../model/index.ts'
import type { Emitted } from '../agent.ts'
import { type Fields, text } from '../kit/fields.ts'
import { settle } from '../kit/settle.ts'
import { type FileChange, finishTool, startTool } from '../kit/tools.ts'
import type { BoardCall, BoardCodecState } from './state.ts'
import { kindOf, refersTo, resultOf, titleOf } from './tools.ts'

export function startCall(state: BoardCodecState, id: string, name: string, payload: Fields): Emitted {
  const input = payload.args
  state.calls.push({ toolId: id, name, input, callId: text(payload, 'toolId'), changes: [] })
  return startTool(state.ledger, { toolId: id, name, kind: kindOf(name), title: titleOf(input), input })
}

/** Some results have only a tool name: they belong to the oldest open call of that tool. */
export function finishCall(state: BoardCodecState, id: string, name: string, payload: Fields): Emitted[] {
  const callId = text(payload, 'toolId')
  const index = state.calls.findIndex((call) =>
    call.callId === undefined || callId === undefined ? call.name === name : call.callId === callId,
  )
  const [call] = index < 0 ? [] : state.calls.splice(index, 1)
  const result = resultOf(payload)
  if (!call) {
    // A result without a start must not be lost.
    const begun = startTool(state.ledger, { toolId: id, name, kind: kindOf(name) })
    return [begun, ...finishTool(state.ledger, id, result)]
  }
  const unproven = result.status === 'success' ? [] : call.changes.map(unprovenChange)
  return [...unproven, ...finishTool(state.ledger, call.toolId, result, call.changes)]
}

/** Holds a change until the result of its call. A change without a known call is emitted alone. */
export function change(state: BoardCodecState, reported: FileChange): Emitted[] {
  const owner = ownerOf(state.calls, reported.path)
  if (!owner) return [{ type: 'file.changed', ...reported }]
  owner.changes.push(reported)
  return []
}

function ownerOf(calls: readonly BoardCall[], file: string): BoardCall | undefined {
  return calls.length === 1 ? calls[0] : calls.find(({ input }) => refersTo(input, file))
}

/** Closes calls that the board left open. */
export function settleCalls(state: BoardCodecState, outcome: Outcome): Emitted[] {
  const unproven = state.calls.splice(0).flatMap(({ changes }) => changes.map(unprovenChange))
  return [...unproven, ...settle(state.ledger, outcome, true)]
}

/** Reported as a notice, not as a change: its call failed or never ended. */
function unprovenChange(reported: FileChange): Emitted {
  const message = `${reported.path}: reported as changed by a call that did not succeed`
  return { type: 'notice.raised', level: 'info', code: 'agent_warning', message, data: reported }
}
