import type { Codec, Decoded, Emitted, Start, Write } from '../agent.ts'
import { emit, emitAll, malformed, nothing, unmapped } from '../kit/decoded.ts'
import { doubtOfLine } from '../kit/doubt.ts'
import { amount, compact, type Fields, fields, flag, isFields, text } from '../kit/fields.ts'
import { updateSession } from '../kit/known.ts'
import { encodeOneshot } from '../kit/oneshot.ts'
import { type FrameRule, ruleTable } from '../kit/rules.ts'
import { settle } from '../kit/settle.ts'
import { progressTool } from '../kit/tools.ts'
import { anyInBackground } from './background.ts'
import { isOwnWork, ownsResult, strayResult } from './binding.ts'
import {
  decodeControlCancel,
  decodeControlRequest,
  decodeControlResponse,
  encodeLive,
  encodeWithImages,
  markAbridged,
  sentLive,
} from './control.ts'
import { decodeAssistant, decodeUser } from './messages.ts'
import { endTurn, rememberResult } from './result.ts'
import { type ClaudeState, initialState } from './state.ts'
import { decodeLifecycle } from './steers.ts'
import { decodeStreamEvent } from './stream.ts'
import { decodeInnerRetry, decodeRateLimit, decodeReset, decodeSystem } from './system.ts'

const ruleOf = ruleTable<FrameRule<ClaudeState>>({
  stream_event: decodeStreamEvent,
  assistant: decodeAssistant,
  user: decodeUser,
  system: decodeSystem,
  result(state, native) {
    if (!ownsResult(state, native)) return emit(strayResult(native))
    const own = isOwnWork(state, native)
    rememberResult(state, native, own)
    // A lone result has no handshake before it; a failed one names a session that was never created.
    const emitted = flag(native, 'is_error')
      ? []
      : updateSession(state, { nativeSessionId: text(native, 'session_id') })
    // A one-shot process may continue after a result; only its exit ends the turn.
    return emitAll(state.start.launch === 'live' && !own ? [...emitted, ...endTurn(state)] : emitted)
  },
  control_request: decodeControlRequest,
  control_response: decodeControlResponse,
  control_cancel_request: decodeControlCancel,
  command_lifecycle: decodeLifecycle,
  tool_progress: decodeToolProgress,
  rate_limit_event: decodeRateLimit,
  conversation_reset: decodeReset,
  // A keep-alive of the transport.
  keep_alive: () => nothing,
})

/** Claude Code skips a prompt whose id it has seen, and an answer to a request that was answered. */
const DOUBT = {
  nameOf: (message: Fields) => {
    const type = text(message, 'type')
    if (type === 'control_request') return text(fields(message, 'request'), 'subtype')
    return type === 'user' && message.uuid === undefined ? 'unnamed prompt' : type
  },
  // Claude Code answers a second handshake like the first, and skips a prompt whose id it has seen.
  repeatable: ['initialize', 'user', 'control_response', 'interrupt', 'set_model', 'set_permission_mode'],
}

export const codec: Codec<ClaudeState> = {
  initial: (start: Start) => initialState(start),

  decode(state, frame) {
    if (frame.stream === 'stderr') return emit({ type: 'output.written', stream: 'stderr', line: frame.text })
    const native = frame.value
    if (isFields(native)) {
      const rule = ruleOf(native.type)
      const step = rule ? rule(state, native, frame.text) : undefined
      if (frame.large && native.type === 'control_request') markAbridged(state, native)
      return step ?? unmapped(text(native, 'type') ?? '?', frame.text)
    }
    if (isMessageList(native)) return decodeList(state, native)
    return malformed(frame.text)
  },

  encode(state, command) {
    if (state.start.launch === 'live') return encodeLive(state, command)
    return state.start.prompt?.images.length && command.type === 'prompt'
      ? encodeWithImages(command)
      : encodeOneshot('claude', state.start, command)
  },

  unconfirmed: (state) => state.calls.isInterrupting,

  doubtful: ({ calls }, write) => doubtOfLine(write, calls, DOUBT),

  sent: (state, frame) => sentLive(state, frame),

  // The handshake of a one-shot process is the line that names its session.
  ready: ({ known, calls, turn, start }) =>
    known.nativeSessionId !== undefined ||
    turn.result !== undefined ||
    (start.launch === 'live' && !calls.some((subtype) => subtype === 'initialize')),

  finished: ({ turn: { result }, ledger, shells }) =>
    result !== undefined && !result.own && ledger.subagents.size === 0 && !anyInBackground(shells),

  end(state, exit) {
    return emitAll(state.turn.open ? endTurn(state, exit) : settle(state.ledger, 'interrupted', true))
  },
}

/** `--output-format json` prints all messages as one array. Any other array is a line of output. */
function isMessageList(value: unknown): value is readonly Fields[] {
  return Array.isArray(value) && value.length > 0 && value.every(isFields)
}

function decodeList(state: ClaudeState, natives: readonly Fields[]): Decoded {
  const emitted: Emitted[] = []
  const writes: Write[] = []
  let verdict: Decoded['verdict'] = 'mapped'
  for (const native of natives) {
    const step = codec.decode(state, { stream: 'stdout', text: JSON.stringify(native), value: native })
    emitted.push(...step.emitted)
    writes.push(...step.writes)
    if (step.verdict !== 'mapped') verdict = step.verdict
  }
  return { verdict, emitted, writes }
}

/** The id of a heartbeat is derived from its call, which is named as its parent. */
function decodeToolProgress(state: ClaudeState, native: Fields): Decoded {
  const parent = text(native, 'parent_tool_use_id')
  if (isFields(native.subagent_retry)) return decodeInnerRetry(state, parent, native.subagent_retry)
  const own = text(native, 'tool_use_id') ?? parent
  const seconds = amount(native, 'elapsed_time_seconds')
  const message = text(native, 'status') || undefined
  if (own === undefined || (seconds === undefined && message === undefined)) return nothing
  const toolId = parent !== undefined && own.startsWith(`${parent}-`) ? parent : own
  const elapsedMs = seconds === undefined ? undefined : seconds * 1000
  return emitAll(progressTool(state.ledger, toolId, compact({ message, elapsedMs })))
}
