import type { Frame } from '../../../framing/frame.ts'
import type { Codec, Decoded, Emitted } from '../../agent.ts'
import { type Accounted, accounted } from '../../kit/accounted.ts'
import { emit, emitAll, malformed, nothing, skipped, unmapped } from '../../kit/decoded.ts'
import { doubtOfLine } from '../../kit/doubt.ts'
import { type Fields, fields, isFields, number, text } from '../../kit/fields.ts'
import { updateSession } from '../../kit/known.ts'
import { type FrameRule, ruleTable } from '../../kit/rules.ts'
import { settle } from '../../kit/settle.ts'
import { applySent } from './calls.ts'
import { encodeCommand } from './commands.ts'
import { errorOf } from './errors.ts'
import { decodeInitialized, decodeOpened, decodeSet, isReady } from './handshake.ts'
import { dropped } from './ignored-fields.ts'
import type { AcpQuirks } from './launch/quirks.ts'
import { decodeCancelRequest, decodeElicitation, decodePermission } from './permissions.ts'
import { type AcpState, initialState } from './state.ts'
import { endTurn } from './turn.ts'
import { decodeUpdate } from './updates.ts'
import { type AcpCall, isRpcId, methodNotFound } from './wire.ts'

/** Requests of the agent. Files and terminals are not offered, but some agents request them anyway. */
const requestRule = ruleTable<FrameRule<AcpState>>({
  'session/request_permission': decodePermission,
  'elicitation/create': decodeElicitation,
  'fs/read_text_file': decline,
  'fs/write_text_file': decline,
  'terminal/create': decline,
  'terminal/output': decline,
  'terminal/release': decline,
  'terminal/wait_for_exit': decline,
  'terminal/kill': decline,
  // Requests prompts that we never queue in the agent.
  'craft/drainMidTurnQueue': decline,
  // Announces a turn of the agent; the turn starts with its first output.
  '_qwencode/start_turn': decline,
})

const notificationRule = ruleTable<FrameRule<AcpState>>({
  'session/update': decodeUpdate,
  '$/cancel_request': (state, native) => decodeCancelRequest(state, fields(native, 'params')),
  'qwen/notify/session/mode-update': (state, native) =>
    emitAll(updateSession(state, { mode: text(fields(native, 'params'), 'currentModeId') })),
  'qwen/notify/session/model-update': (state, native) =>
    emitAll(updateSession(state, { model: text(fields(native, 'params'), 'currentModelId') })),
  '_qwencode/end_turn': endOwnTurn,
  // A suggestion for the user's next prompt.
  'qwen/notify/session/prompt-suggestion': () => nothing,
  // The login method in use, without the login.
  '_auth/status_update': () => nothing,
})

type AnswerRule = (state: AcpState, native: Fields, sent: AcpCall) => Decoded

const answerRule = ruleTable<AnswerRule>({
  initialize: decodeInitialized,
  'session/new': decodeOpened,
  'session/load': decodeOpened,
  'session/resume': decodeOpened,
  'session/fork': decodeOpened,
  'session/prompt': decodeAnswer,
  'session/set_mode': decodeSet,
  'session/set_model': decodeSet,
  'session/set_config_option': decodeSet,
})

const DOUBT = {
  nameOf: (message: Fields) => text(message, 'method'),
  repeatable: ['session/cancel', 'session/set_mode', 'session/set_model', 'session/set_config_option'],
}

/** A codec of the Agent Client Protocol; without quirks, they are selected by the agent's name. */
export function acpCodec(quirks?: AcpQuirks): Codec<Accounted<AcpState>> {
  const codec: Codec<AcpState> = {
    initial: (start) => initialState(start, quirks),
    decode,
    encode: encodeCommand,
    sent: (state, frame) => (isFields(frame.value) ? applySent(state, frame.value) : undefined),
    ready: isReady,
    doubtful: ({ calls, turn, ledger }, write) => {
      const hasWorked =
        turn !== undefined && (turn.block !== undefined || turn.tools > 0 || ledger.requests.size > 0)
      return doubtOfLine(write, calls, { ...DOUBT, worksOn: hasWorked ? 'session/prompt' : undefined })
    },
    // A failed handshake closes the input of the agent.
    finished: ({ broken }) => broken !== undefined,
    end(state, exit) {
      const emitted = endTurn(state, { exit })
      // Prompts that never started, and background work: no work outlives the process.
      while (state.turn) emitted.push(...endTurn(state, { answer: { stopReason: 'cancelled' } }))
      return emitAll(beforeTerminal(emitted, settle(state.ledger, 'interrupted', true)))
    },
  }
  return accounted(codec, dropped)
}

/** Open items are settled before the terminal event of the turn, if there is one. */
function beforeTerminal(emitted: Emitted[], left: Emitted[]): Emitted[] {
  const last = emitted.at(-1)
  return last?.type === 'turn.verdict' ? [...emitted.slice(0, -1), ...left, last] : [...emitted, ...left]
}

function decode(state: AcpState, frame: Frame): Decoded {
  if (frame.stream === 'stderr') return decodeStderr(state, frame.text)
  const native = frame.value
  if (!isFields(native)) return malformed(frame.text)
  const { method } = native
  if (typeof method === 'string') {
    const known = native.id === undefined ? notificationRule(method) : requestRule(method)
    if (known) return known(state, native, frame.text)
    const step = unmapped(method, frame.text)
    return native.id === undefined ? step : { ...step, writes: [methodNotFound(native.id, method)] }
  }
  if (native.result === undefined && native.error === undefined) return unmapped('?', frame.text)
  return decodeResponse(state, native)
}

function decodeStderr({ quirks }: AcpState, line: string): Decoded {
  const known = quirks.warnings?.filter(({ text }) => line.includes(text)) ?? []
  return emit({ type: 'output.written', stream: 'stderr', line }, ...known.map(({ notice }) => notice))
}

function decline(_state: AcpState, native: Fields): Decoded {
  return { ...nothing, writes: [methodNotFound(native.id, text(native, 'method') ?? '')] }
}

function decodeResponse(state: AcpState, native: Fields): Decoded {
  const id = isRpcId(native.id) ? native.id : null
  const sent = state.calls.take(id) ?? (state.inputUnknown ? guess(native) : undefined)
  // A response to another client, on a connection with more than one session.
  if (!sent) return skipped
  const rule = answerRule(sent.method)
  if (rule) return rule(state, native, sent)
  if (native.error === undefined || native.error === null) return nothing
  const { message } = errorOf(native.error)
  const data = { method: sent.method, code: number(fields(native, 'error'), 'code') }
  return emit({ type: 'notice.raised', level: 'warning', code: 'agent_warning', message, data })
}

/** In a recording of the agent's output alone, the response reveals its request. */
function guess(native: Fields): AcpCall | undefined {
  const result = fields(native, 'result')
  const params = {}
  if (result.protocolVersion !== undefined) return { method: 'initialize', params }
  if (result.stopReason !== undefined) return { method: 'session/prompt', params }
  if (result.sessionId !== undefined) return { method: 'session/new', params }
  return native.error === undefined ? undefined : { method: 'session/prompt', params }
}

/** The response to a prompt ends its turn. */
function decodeAnswer(state: AcpState, native: Fields): Decoded {
  const result = fields(native, 'result')
  // In the draft version the response only confirms the prompt.
  if (isFields(native.result) && result.stopReason === undefined && result.messageId !== undefined)
    return skipped
  const waiting = state.waiting.find((prompt) => prompt.call === native.id)
  if (waiting) waiting.answer = native
  const open = state.turn?.call
  if (waiting || (open !== undefined && open !== native.id)) return skipped
  return emitAll(endTurn(state, { answer: native }))
}

function endOwnTurn(state: AcpState, native: Fields): Decoded {
  // A turn for a prompt ends with its response.
  if (state.turn?.call !== undefined) return nothing
  const stopReason = text(fields(native, 'params'), 'reason') ?? 'end_turn'
  return emitAll(endTurn(state, { answer: { stopReason } }))
}
