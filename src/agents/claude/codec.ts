import type { Codec, Decoded, Emitted, Start, Write } from '../agent.ts'
import { emit, emitAll, malformed, nothing, oversized, unmapped } from '../decoded.ts'
import { amount, type Fields, flag, isFields, text } from '../fields.ts'
import { encodeOneshot } from '../oneshot.ts'
import { ruleTable } from '../rules.ts'
import { settle } from '../settle.ts'
import { progressTool } from '../tools.ts'
import { anyInBackground } from './background.ts'
import { isOwnWork, ownsResult, strayResult } from './binding.ts'
import {
  decodeControlCancel,
  decodeControlRequest,
  decodeControlResponse,
  encodeLive,
  encodeWithImages,
  sentLive,
} from './control.ts'
import { decodeAssistant, decodeUser } from './messages.ts'
import { endTurn, rememberResult } from './result.ts'
import { initialState, type State } from './state.ts'
import { decodeLifecycle } from './steers.ts'
import { decodeStreamEvent } from './stream.ts'
import { decodeInnerRetry, decodeRateLimit, decodeReset, decodeSystem, update } from './system.ts'

type Rule = (state: State, native: Fields, raw: string) => Decoded

const ruleOf = ruleTable<Rule>({
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
      : update(state, { nativeSessionId: text(native, 'session_id') })
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

export const codec: Codec<State> = {
  initial: (start: Start) => initialState(start),

  decode(state, frame) {
    if (frame.blob) return oversized(frame.blob)
    if (frame.stream === 'stderr') return emit({ type: 'output.written', stream: 'stderr', line: frame.text })
    const native = frame.value
    if (isFields(native)) {
      const rule = ruleOf(native.type)
      return rule ? rule(state, native, frame.text) : unmapped(text(native, 'type') ?? '?', frame.text)
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

  unconfirmed: (state) => state.interrupts.size > 0,

  sent: (state, frame) => sentLive(state, frame),

  // The handshake of a one-shot process is the line that names its session.
  ready: ({ known, commands, result, start }) =>
    known.nativeSessionId !== undefined ||
    result !== undefined ||
    (start.launch === 'live' && ![...commands.values()].includes('initialize')),

  finished: ({ result, ledger, shells }) =>
    result !== undefined && !result.own && ledger.subagents.size === 0 && !anyInBackground(shells),

  end(state, exit) {
    return emitAll(state.turnOpen ? endTurn(state, exit) : settle(state.ledger, 'interrupted', true))
  },
}

/** `--output-format json` prints all messages as one array. Any other array is a line of output. */
function isMessageList(value: unknown): value is readonly Fields[] {
  return Array.isArray(value) && value.length > 0 && value.every(isFields)
}

function decodeList(state: State, natives: readonly Fields[]): Decoded {
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
function decodeToolProgress(state: State, native: Fields): Decoded {
  const parent = text(native, 'parent_tool_use_id')
  if (isFields(native.subagent_retry)) return decodeInnerRetry(state, parent, native.subagent_retry)
  const own = text(native, 'tool_use_id') ?? parent
  const seconds = amount(native, 'elapsed_time_seconds')
  if (own === undefined || seconds === undefined) return nothing
  const toolId = parent !== undefined && own.startsWith(`${parent}-`) ? parent : own
  return emitAll(progressTool(state.ledger, toolId, { elapsedMs: seconds * 1000 }))
}
