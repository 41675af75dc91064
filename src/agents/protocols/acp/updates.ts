import type { PlanItem } from '../../../model/events/work.ts'
import type { Decoded, Emitted } from '../../agent.ts'
import { emit, emitAll, nothing, skipped, unmapped } from '../../kit/decoded.ts'
import { compact, count, type Fields, fields, isFields, list, number, text } from '../../kit/fields.ts'
import { updateSession } from '../../kit/known.ts'
import { type FrameRule, ruleTable } from '../../kit/rules.ts'
import { openTurn, runningTurn } from './between-turns.ts'
import { closeBlock } from './blocks.ts'
import { decodeChild, decodeSessionMessage, decodeSubagent } from './child-sessions.ts'
import { decodeMessageChunk, decodeThoughtChunk } from './chunks.ts'
import { proceed } from './handshake.ts'
import { commandNames, configured } from './session.ts'
import { decodeSessionInfo } from './session-info.ts'
import type { AcpState } from './state.ts'
import { decodeTool } from './tools/tools.ts'
import { endTurn } from './turn.ts'

const ruleOf = ruleTable<FrameRule<AcpState>>({
  agent_message_chunk: decodeMessageChunk,
  agent_thought_chunk: decodeThoughtChunk,
  tool_call: (state, update) => decodeTool(state, update),
  tool_call_update: (state, update) => decodeTool(state, update),
  subagent_update: (state, update) => decodeSubagent(state, update),
  session_message: (state, update) => decodeSessionMessage(state, update),
  plan: (state, update, raw) => decodePlan(state, update, update, raw),
  plan_update: (state, update, raw) => decodePlan(state, update, fields(update, 'plan'), raw),

  available_commands_update(state, update) {
    const emitted = updateSession(state, { commands: commandNames(update) })
    // Only a prompt that waited for this list is sent now.
    const waits = state.awaitsCommands
    state.awaitsCommands = false
    return waits ? proceed(state, emitted) : emitAll(emitted)
  },

  current_mode_update: (state, update) =>
    emitAll(updateSession(state, { mode: text(update, 'currentModeId') })),
  config_option_update: (state, update) => emitAll(updateSession(state, configured(update))),
  session_info_update: (state, update) => decodeSessionInfo(state, update),
  usage_update: decodeUsage,
  notice: decodeNotice,

  compaction_update: decodeCompaction,
  // The summary is for the model; the compaction update reports it.
  compaction_summary_chunk: () => nothing,

  // An echo of our prompt.
  user_message_chunk: () => nothing,
  user_message: () => nothing,

  // The draft version responds to a prompt immediately and reports its end here.
  state_update: (state, update) =>
    update.state === 'idle' && update.stopReason !== undefined
      ? emitAll(endTurn(state, { answer: update }))
      : nothing,
})

export function decodeUpdate(state: AcpState, native: Fields, raw: string): Decoded {
  const params = fields(native, 'params')
  const update = fields(params, 'update')
  const { sessionId } = params
  const child = typeof sessionId === 'string' ? state.children.get(sessionId) : undefined
  if (child) return decodeChild(state, update, child, raw)
  // A process may have other sessions besides ours.
  if (state.sessionId !== undefined && sessionId !== state.sessionId && typeof sessionId === 'string') {
    return skipped
  }
  const rule = ruleOf(update.sessionUpdate)
  return rule
    ? rule(state, update, raw)
    : unmapped(`session/update/${text(update, 'sessionUpdate') ?? '?'}`, raw)
}

/** A plan may also be a text or a file: that is not a list, and not an empty plan. */
function decodePlan(state: AcpState, update: Fields, plan: Fields, raw: string): Decoded {
  if (state.replaying) return skipped
  if (!Array.isArray(plan.entries)) return unmapped(`${text(update, 'sessionUpdate') ?? '?'}/?`, raw)
  const items = list(plan, 'entries').flatMap((entry): PlanItem[] => {
    if (!isFields(entry) || entry.status === 'cancelled') return []
    const status = text(entry, 'status')
    return [
      {
        text: text(entry, 'content') ?? '',
        status: status === 'completed' || status === 'in_progress' ? status : 'pending',
        ...compact({ priority: text(entry, 'priority') }),
      },
    ]
  })
  const emitted = openTurn(state, isFields(update._meta) ? update._meta : undefined)
  const turn = runningTurn(state)
  if (turn) emitted.push(...closeBlock(state, turn))
  emitted.push({ type: 'plan.updated', items })
  return emitAll(emitted)
}

/** The context usage, and the cost of the session so far. */
function decodeUsage(state: AcpState, update: Fields): Decoded {
  const turn = runningTurn(state)
  const emitted: Emitted[] = []
  // Without message ids, only the end of a model call separates two messages.
  if (turn && turn.block?.nativeId === undefined) emitted.push(...closeBlock(state, turn))
  const cost = fields(update, 'cost')
  if (text(cost, 'currency') === 'USD') {
    const amount = number(cost, 'amount')
    // Cost that is reported between turns belongs to earlier turns.
    if (turn) state.cost = amount ?? state.cost
    else state.costBefore = amount ?? state.costBefore
  }
  const origin = text(fields(fields(update, '_meta'), '_claude/origin'), 'kind')
  if (turn && isFields(update.cost) && origin !== undefined && origin !== 'human') turn.uncounted = true
  // Cost is reported when an answer is complete, so later text does not repeat it.
  if (turn?.block && isFields(update.cost)) turn.block.sealed = true
  const used = count(update, 'used')
  const size = count(update, 'size')
  const { context } = state
  if ((used === undefined && size === undefined) || (used === context.used && size === context.size)) {
    return emitAll(emitted)
  }
  state.context = { used, size }
  const model = text(fields(update, '_meta'), '_claude/model')
  const figures = compact({ model, contextUsed: used, contextSize: size })
  emitted.push({ type: 'usage.reported', scope: 'context', ...figures, source: 'agent' })
  return emitAll(emitted)
}

/** Updates of one compaction replace each other; only a different status or error emits an event. */
function decodeCompaction(state: AcpState, update: Fields): Decoded {
  const id = text(update, 'compactionId') ?? ''
  const status = text(update, 'status') ?? '?'
  const error = text(update, 'error')
  const now = error === undefined ? status : `${status}: ${error}`
  if (state.compactions.get(id) === now) return nothing
  state.compactions.set(id, now)
  if (status === 'completed') return emit({ type: 'context.compacted' })
  const level = status === 'failed' ? 'warning' : 'info'
  const message = `compaction of the context: ${now}`
  return emit({ type: 'notice.raised', level, code: 'agent_warning', message })
}

/** A message of the program with its severity. */
function decodeNotice(_state: AcpState, update: Fields): Decoded {
  const severity = text(update, 'severity')
  const level = severity === 'error' || severity === 'warning' ? severity : 'info'
  const title = text(update, 'title') ?? ''
  const description = text(update, 'description')
  return emit({
    type: 'notice.raised',
    level,
    code: level === 'error' ? 'agent_error' : 'agent_warning',
    message: description === undefined ? title : `${title}\n${description}`,
  })
}
