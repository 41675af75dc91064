import type { Codec, Decoded, Emitted } from '../agent.ts'
import { emit, emitAll, malformed, nothing, unmapped } from '../kit/decoded.ts'
import {
  asFields,
  asText,
  compact,
  count,
  type Fields,
  fields,
  flag,
  isFields,
  list,
  text,
} from '../kit/fields.ts'
import { discardMessage } from '../kit/messages.ts'
import { encodeOneshot } from '../kit/oneshot.ts'
import { type FrameRule, ruleTable } from '../kit/rules.ts'
import { decodeToolCall, decodeToolResult, decodeToolUse, finishDocumentedCall } from './calls.ts'
import { endsDocumented, endTurn } from './result.ts'
import { addText, closeText, type GeminiState, initialState } from './state.ts'
import { decodeStderr } from './stderr.ts'

const ruleOf = ruleTable<FrameRule<GeminiState>>({
  init(state, native) {
    const nativeSessionId = text(native, 'session_id') ?? state.nativeSessionId
    const model = text(native, 'model') ?? state.model
    // A repeated handshake emits nothing.
    if (nativeSessionId === state.nativeSessionId && model === state.model) return nothing
    Object.assign(state, { nativeSessionId, model })
    return emit({ type: 'session.updated', ...compact({ nativeSessionId, model }) })
  },

  message(state, { role, content }, raw) {
    // Our prompt repeated.
    if (role === 'user') return nothing
    if (role !== 'assistant' || typeof content !== 'string') {
      return unmapped(`message/${asText(role) ?? '?'}`, raw)
    }
    return content === '' ? nothing : emitAll(addText(state, 'text', content))
  },

  tool_use: decodeToolUse,
  tool_result: decodeToolResult,

  error(state, native) {
    const failure = fields(native, 'error')
    const message = text(native, 'message') ?? text(failure, 'message') ?? ''
    if (text(native, 'severity') === 'warning') {
      const code = /loop detected/i.test(message) ? 'loop_detected' : 'agent_warning'
      return emit({ type: 'notice.raised', level: 'warning', code, message })
    }
    state.lastError = message
    const name = text(failure, 'code')
    // Only the documented format ends the turn; in the real one a result follows.
    if (isFields(native.error)) state.failure = { code: 'unknown', message, ...compact({ native: name }) }
    const call = finishDocumentedCall(state, 'unknown')
    const data = name === undefined ? {} : { data: { code: name } }
    return emit(...call, { type: 'notice.raised', level: 'error', code: 'agent_error', message, ...data })
  },

  result(state, native) {
    state.result = native
    const succeeded = text(native, 'status') === 'success'
    const call = finishDocumentedCall(state, succeeded ? 'success' : 'unknown')
    return emitAll([...closeText(state, !succeeded), ...call])
  },

  // The following types are documented but were never observed on stdout.
  content: (state, native, raw) => decodeText(state, native.value, raw),
  tool_call: decodeToolCall,
  retry(state, native) {
    const emitted: Emitted[] =
      state.openMessage === undefined ? [] : discardMessage(state.ledger, state.openMessage)
    state.openMessage = undefined
    const retry = compact({ attempt: count(native, 'attempt'), message: text(native, 'message') })
    return emit(...emitted, { type: 'limit.reported', kind: 'retry', ...retry })
  },
})

export const codec: Codec<GeminiState> = {
  initial: initialState,

  decode(state, frame) {
    if (frame.stream === 'stderr') return decodeStderr(state, frame.text)
    const native = frame.value
    if (!isFields(native)) return malformed(frame.text)
    const rule = ruleOf(native.type)
    if (rule) return rule(state, native, frame.text)
    if (native.type === undefined) return decodeUntyped(state, native, frame.text)
    return unmapped(text(native, 'type') ?? '?', frame.text)
  },

  encode: (state, command) => encodeOneshot('gemini', state.start, command),

  ready: ({ nativeSessionId, result }) => nativeSessionId !== undefined || result !== undefined,

  finished: ({ result }) => result !== undefined,

  end(state, exit) {
    const emitted: Emitted[] = state.retry ? [state.retry] : []
    if (endsDocumented(state, exit))
      emitted.push(...closeText(state), ...finishDocumentedCall(state, 'success'))
    return emitAll([...emitted, ...endTurn(state, exit)])
  },
}

function decodeText(state: GeminiState, piece: unknown, raw: string): Decoded {
  if (typeof piece !== 'string') return unmapped('?', raw)
  state.isDocumented = true
  const call = finishDocumentedCall(state, 'success')
  return emitAll(piece === '' ? call : [...call, ...addText(state, 'text', piece)])
}

/** `{text}`, or the API's `{candidates: [{content: {parts: [{text, thought?}]}}]}`. */
function decodeUntyped(state: GeminiState, native: Fields, raw: string): Decoded {
  const [candidate, ...others] = list(native, 'candidates')
  const parts = list(fields(asFields(candidate), 'content'), 'parts')
  if (parts.length === 0) return decodeText(state, native.text, raw)
  state.isDocumented = true
  const emitted: Emitted[] = []
  let whole = others.length === 0
  for (const one of parts) {
    const part = asFields(one)
    const piece = text(part, 'text')
    if (piece === undefined) whole = false
    else if (piece !== '') emitted.push(...addText(state, flag(part, 'thought') ? 'thinking' : 'text', piece))
  }
  return whole ? emitAll(emitted) : unmapped('candidates', raw, emitted)
}
