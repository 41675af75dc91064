import type { SubagentCompleted } from '../../../model/events/work.ts'
import type { Decoded, Emitted } from '../../agent.ts'
import { emitAll, nothing, skipped, unmapped } from '../../kit/decoded.ts'
import { compact, type Fields, fields, isFields, list, text } from '../../kit/fields.ts'
import { ruleTable } from '../../kit/rules.ts'
import { settleThread } from '../../kit/settle.ts'
import { finishSubagent, startSubagent } from '../../kit/subagents.ts'
import { runningTurn, strayText } from './between-turns.ts'
import { addText, closeBlock } from './blocks.ts'
import { decodeSessionInfo } from './session-info.ts'
import { type AcpChild, type AcpState, newThread } from './state.ts'
import { decodeTool } from './tools/tools.ts'

type ChildRule = (state: AcpState, update: Fields, child: AcpChild, raw: string) => Decoded

/** Updates in the session of a sub-agent. Its settings and the size of its context have no event. */
const ruleOf = ruleTable<ChildRule>({
  agent_message_chunk: (state, update, child, raw) => decodeChunk(state, update, child, 'text', raw),
  agent_thought_chunk: (state, update, child, raw) => decodeChunk(state, update, child, 'thinking', raw),
  tool_call: decodeTool,
  tool_call_update: decodeTool,
  subagent_update: decodeSubagent,
  session_message: decodeSessionMessage,
  available_commands_update: () => skipped,
  config_option_update: () => skipped,
  current_mode_update: () => skipped,
  session_info_update: decodeSessionInfo,
  usage_update: () => skipped,
  user_message_chunk: () => skipped,
  user_message: () => skipped,
  // The session that started the sub-agent reports its state too.
  state_update: () => skipped,
})

/** Decodes an update of a sub-agent's own session. */
export function decodeChild(state: AcpState, update: Fields, child: AcpChild, raw: string): Decoded {
  if (state.replaying) return skipped
  const rule = ruleOf(update.sessionUpdate)
  return rule
    ? rule(state, update, child, raw)
    : unmapped(`session/update/${text(update, 'sessionUpdate') ?? '?'}`, raw)
}

function decodeChunk(
  state: AcpState,
  update: Fields,
  child: AcpChild,
  kind: 'text' | 'thinking',
  raw: string,
): Decoded {
  const content = fields(update, 'content')
  const piece = text(content, 'text')
  if (piece === undefined) {
    return unmapped(`${text(update, 'sessionUpdate') ?? '?'}/${text(content, 'type') ?? '?'}`, raw)
  }
  if (!state.ledger.subagents.has(child.subagent)) return emitAll(strayText(piece))
  if (piece === '') return nothing
  const nativeId = text(update, 'messageId')
  return emitAll(addText(state, child, { kind, nativeId, parent: child.subagent, text: piece }))
}

/** A session announces a sub-agent of its own, or a change of it. */
export function decodeSubagent(state: AcpState, update: Fields, from?: AcpChild): Decoded {
  const id = text(update, 'sessionId')
  if (id === undefined || state.replaying) return skipped
  const now = text(fields(update, 'state'), 'state')
  const known = state.children.get(id)
  const child = known ?? newChild(update, id, from)
  state.children.set(id, child)
  if (now === 'idle') return emitAll(endChild(state, child, fields(update, 'state')))
  // An update without a state changes a property; the first one announces the sub-agent.
  if (known && now === undefined) return emitAll(renamed(child, update))
  if (state.ledger.subagents.has(id)) return emitAll(renamed(child, update))
  const author = from ?? runningTurn(state)
  const emitted = author ? closeBlock(state, author) : []
  emitted.push(...startChild(state, child, known ? undefined : text(update, 'description')))
  return emitAll(emitted)
}

function newChild(update: Fields, id: string, from: AcpChild | undefined): AcpChild {
  const [line] = text(update, 'description')?.split('\n', 1) ?? []
  const label = text(update, 'title') || line || 'sub-agent'
  return { ...newThread(), subagent: id, label, parent: from?.subagent }
}

/** A title that was unknown at the start. */
function renamed(child: AcpChild, update: Fields): Emitted[] {
  const title = text(update, 'title')
  if (!title || title === child.label) return []
  return [{ type: 'subagent.progressed', id: child.subagent, message: title }]
}

function startChild(state: AcpState, child: AcpChild, description: string | undefined): Emitted[] {
  const turn = runningTurn(state)
  if (turn) turn.delegated = true
  const { subagent: id, label, parent } = child
  const { describesSubagents: as } = state.quirks
  const described = as === undefined || description === undefined ? {} : { [as]: description }
  return startSubagent(state.ledger, { id, label, ...described, background: true, ...compact({ parent }) })
}

const STATUS: ReadonlyMap<unknown, SubagentCompleted['status']> = new Map([
  ['end_turn', 'success'],
  ['cancelled', 'cancelled'],
])

/** The sub-agent has no more work. It may get some later, and then starts again. */
function endChild(state: AcpState, child: AcpChild, native: Fields): Emitted[] {
  const { subagent: id } = child
  if (!state.ledger.subagents.has(id)) return []
  const status = STATUS.get(native.stopReason) ?? 'error'
  const emitted = [...closeBlock(state, child), ...settleThread(state.ledger, id, status)]
  emitted.push(...finishSubagent(state.ledger, id, { status, ...compact({ summary: child.answer }) }))
  child.answer = undefined
  return emitted
}

/** A message between sessions. Both of them report it: the task or a message of the sender, and the answer. */
export function decodeSessionMessage(state: AcpState, update: Fields, at?: AcpChild): Decoded {
  const id = text(update, 'recipientSessionId')
  const isAnswer = state.children.has(text(update, 'senderSessionId') ?? '') && id === state.sessionId
  const isCopy = at !== undefined && at.subagent === id
  if (id === undefined || isAnswer || isCopy || state.replaying || !state.children.has(id)) return skipped
  const message = list(update, 'content')
    .map((block) => (isFields(block) ? (text(block, 'text') ?? '') : ''))
    .join('')
  return message === '' ? nothing : emitAll([{ type: 'subagent.progressed', id, message }])
}
