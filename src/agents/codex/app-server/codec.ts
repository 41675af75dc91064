import type { Codec, Decoded, Emitted, Start } from '../../agent.ts'
import { emit, emitAll, malformed, nothing, unmapped } from '../../kit/decoded.ts'
import { doubtOfLine } from '../../kit/doubt.ts'
import { type Fields, fields, isFields, text } from '../../kit/fields.ts'
import { type FrameRule, ruleTable } from '../../kit/rules.ts'
import { silence } from '../errors.ts'
import { refusalIn } from '../refusals.ts'
import { applySent } from './calls.ts'
import { encode } from './commands.ts'
import { decodeGoalCleared, decodeGoalUpdated } from './goals.ts'
import {
  decodeItem,
  decodeOutput,
  decodeSummary,
  decodeSummaryPart,
  decodeText,
  decodeThought,
  decodeToolMessage,
} from './items.ts'
import {
  decodeDeprecation,
  decodeError,
  decodeHookCompleted,
  decodeHookStarted,
  decodeLimits,
  decodeMcpStatus,
  decodeName,
  decodePlan,
  decodeSettings,
  decodeThreadStarted,
  decodeWarning,
} from './notices.ts'
import { decodeRequest, decodeResolved } from './requests.ts'
import { decodeResponse } from './responses.ts'
import { type AppServerState, initialState } from './state.ts'
import {
  decodeDiff,
  decodeTurnCompleted,
  decodeTurnStarted,
  decodeUsage,
  endProcess,
  endTurn,
} from './turns.ts'

const ruleOf = ruleTable<FrameRule<AppServerState>>({
  'item/agentMessage/delta': decodeText,
  'item/plan/delta': decodeText,
  'item/reasoning/summaryTextDelta': decodeSummary,
  'item/reasoning/summaryPartAdded': decodeSummaryPart,
  'item/reasoning/textDelta': decodeThought,
  'item/commandExecution/outputDelta': decodeOutput,
  'item/mcpToolCall/progress': decodeToolMessage,
  'item/started': (state, params, raw) => decodeItem(state, 'started', params, raw),
  'item/completed': (state, params, raw) => decodeItem(state, 'completed', params, raw),
  'turn/started': decodeTurnStarted,
  'turn/completed': decodeTurnCompleted,
  'turn/plan/updated': decodePlan,
  'turn/diff/updated': decodeDiff,
  'thread/started': decodeThreadStarted,
  'thread/name/updated': decodeName,
  'thread/settings/updated': decodeSettings,
  'thread/tokenUsage/updated': decodeUsage,
  'account/rateLimits/updated': decodeLimits,
  'serverRequest/resolved': decodeResolved,
  'hook/started': decodeHookStarted,
  'hook/completed': decodeHookCompleted,
  'mcpServer/startupStatus/updated': decodeMcpStatus,
  error: decodeError,
  warning: decodeWarning,
  guardianWarning: decodeWarning,
  configWarning: decodeWarning,
  deprecationNotice: decodeDeprecation,
  // The turn and the requests report the same.
  'thread/status/changed': () => nothing,
  // For clients with unread marks and remote control.
  'thread/readState/changed': () => nothing,
  'remoteControl/status/changed': () => nothing,
  'thread/goal/updated': decodeGoalUpdated,
  'thread/goal/cleared': decodeGoalCleared,
  // The compaction item reports it.
  'thread/compacted': () => nothing,
})

const DOUBT = {
  nameOf: (message: Fields) => text(message, 'method'),
  repeatable: ['turn/interrupt', 'thread/settings/update', 'thread/backgroundTerminals/list'],
}

/** `codex app-server`: JSON-RPC lines without the field `jsonrpc`. */
export const appServerCodec: Codec<AppServerState> = {
  initial: (start: Start) => initialState(start),

  decode(state, frame) {
    if (frame.stream === 'stderr') return decodeStderr(state, frame.text)
    const native = frame.value
    if (!isFields(native)) return malformed(frame.text)
    const method = text(native, 'method')
    if (method === undefined) return decodeUnnamed(state, native, frame.text)
    // The presence of an id makes it a request, never its value: the first id is 0.
    if (native.id !== undefined) return decodeRequest(state, method, native, frame.text)
    const rule = ruleOf(method)
    return rule ? rule(state, fields(native, 'params'), frame.text) : unmapped(method, frame.text)
  },

  encode,

  unconfirmed: (state) => state.calls.isInterrupting,

  doubtful: ({ calls }, write) => doubtOfLine(write, calls, DOUBT),

  sent: (state, frame) => (isFields(frame.value) ? applySent(state, frame.value) : undefined),

  ready: ({ threadId }) => threadId !== undefined,

  end(state, exit) {
    const open = state.turn !== undefined || state.span.held !== undefined
    return emitAll(open ? endTurn(state, silence(state, exit), exit) : endProcess(state))
  },
}

function decodeUnnamed(state: AppServerState, native: Fields, raw: string): Decoded {
  const answers = native.id !== undefined && (native.result !== undefined || native.error !== undefined)
  return answers ? decodeResponse(state, native) : unmapped('?', raw)
}

function decodeStderr(state: AppServerState, line: string): Decoded {
  // A denial belongs to the open turn; without a turn there is no outcome to change.
  const refusal = refusalIn(line)
  if (refusal?.code === 'tool_refused' && state.turn) state.declined.reported++
  const emitted: Emitted = { type: 'output.written', stream: 'stderr', line }
  return refusal ? emit(emitted, refusal) : emit(emitted)
}
