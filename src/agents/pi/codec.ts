import type { Codec } from '../agent.ts'
import { emit, emitAll, malformed, nothing, unmapped } from '../kit/decoded.ts'
import { doubtOfLine } from '../kit/doubt.ts'
import { type Fields, isFields, text } from '../kit/fields.ts'
import { updateSession } from '../kit/known.ts'
import { encodeOneshot } from '../kit/oneshot.ts'
import { type FrameRule, ruleTable } from '../kit/rules.ts'
import { settle } from '../kit/settle.ts'
import { decodeCallEnd, decodeCallProgress, decodeCallStart } from './calls.ts'
import { encodeLive, sentLive } from './commands.ts'
import { decodeDialog } from './dialogs.ts'
import { decodeMessageEnd, decodeMessageStart, decodeMessageUpdate, decodeRunEnd } from './messages.ts'
import { decodeCompaction, decodeExtensionError, decodeRetry } from './reports.ts'
import { decodeResponse, thinkingOption } from './responses.ts'
import { initialState, type PiState } from './state.ts'
import { decodeRunStart, decodeSettled, endTurn } from './turn.ts'

/** `--mode json` and `--mode rpc` have the same events; only the latter has responses and requests. */
const ruleOf = ruleTable<FrameRule<PiState>>({
  message_update: decodeMessageUpdate,
  message_start: decodeMessageStart,
  message_end: decodeMessageEnd,
  tool_execution_start: decodeCallStart,
  tool_execution_update: decodeCallProgress,
  tool_execution_end: decodeCallEnd,
  agent_start: decodeRunStart,
  agent_end: decodeRunEnd,
  agent_settled: decodeSettled,
  response: decodeResponse,
  extension_ui_request: decodeDialog,
  extension_error: decodeExtensionError,
  auto_retry_start: decodeRetry,
  summarization_retry_scheduled: decodeRetry,
  compaction_end: decodeCompaction,

  session(state, native) {
    const nativeSessionId = text(native, 'id')
    return emitAll(updateSession(state, { nativeSessionId }))
  },
  session_info_changed: (state, native) => emitAll(updateSession(state, { title: text(native, 'name') })),
  thinking_level_changed: (state, native) =>
    emitAll(updateSession(state, { configOptions: thinkingOption(text(native, 'level')) })),

  // Start or end of a model step, which its message and calls show.
  turn_start: () => nothing,
  turn_end: () => nothing,
  // The message of a retry reports its result.
  auto_retry_end: () => nothing,
  summarization_retry_attempt_start: () => nothing,
  summarization_retry_finished: () => nothing,
  // The end of the compaction reports it.
  compaction_start: () => nothing,
  // Our queued prompts; each is reported when it joins the turn.
  queue_update: () => nothing,
  // Entries of its session file.
  entry_appended: () => nothing,
  // The output of a command that we never send.
  bash_execution_update: () => nothing,
})

const DOUBT = {
  nameOf: (message: Fields) => text(message, 'type'),
  repeatable: ['extension_ui_response', 'clear_queue', 'abort', 'set_model', 'get_state'],
}

export const codec: Codec<PiState> = {
  initial: initialState,

  decode(state, frame) {
    if (frame.stream === 'stderr') return emit({ type: 'output.written', stream: 'stderr', line: frame.text })
    const native = frame.value
    if (!isFields(native)) return malformed(frame.text)
    const rule = ruleOf(native.type)
    return rule ? rule(state, native, frame.text) : unmapped(text(native, 'type') ?? '?', frame.text)
  },

  encode: (state, command) =>
    state.start.launch === 'live' ? encodeLive(state, command) : encodeOneshot('pi', state.start, command),

  unconfirmed: (state) => state.calls.isInterrupting,

  doubtful: ({ calls }, write) => doubtOfLine(write, calls, DOUBT),

  sent: sentLive,

  ready: ({ known, running, turn }) => known.nativeSessionId !== undefined || running || turn.settled,

  finished: ({ turn }) => turn.settled,

  end(state, exit) {
    return emitAll(state.turn.open ? endTurn(state, exit) : settle(state.ledger, 'interrupted', true))
  },
}
