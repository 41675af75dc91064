import { addUsage } from '../../../model/index.ts'
import type { Codec, Decoded, Emitted } from '../../agent.ts'
import { emitAll, malformed, unmapped } from '../../kit/decoded.ts'
import { asFields, asText, type Fields, fields, isFields, text } from '../../kit/fields.ts'
import { completeMessage } from '../../kit/messages.ts'
import { encodeOneshot } from '../../kit/oneshot.ts'
import { ruleTable } from '../../kit/rules.ts'
import { finishSubagent, startSubagent } from '../../kit/subagents.ts'
import { finishTool, startTool, type ToolResult, toolIdOf } from '../../kit/tools.ts'
import { changesOf, childOf, planOf } from '../effects.ts'
import { errorNotice, failureOf, plain } from '../errors.ts'
import { isPruned, isRejected, kindOf, resultOf, titleOf } from '../tools.ts'
import { stepUsage } from '../usage.ts'
import { generateId, initialState, type RunCodecState } from './state.ts'
import { endTurn, hasEnded } from './verdict.ts'

type RunRule = (state: RunCodecState, native: Fields) => readonly Emitted[]

const NOTHING: readonly Emitted[] = []

const ruleOf = ruleTable<RunRule>({
  step_start(state) {
    state.rejected = false
    return NOTHING
  },

  text: (state, { part }) => [wholeMessage(state, 'text', asFields(part))],
  reasoning: (state, { part }) => [wholeMessage(state, 'thinking', asFields(part))],
  tool_use: (state, { part }) => wholeCall(state, asFields(part)),

  step_finish(state, native) {
    const part = asFields(native.part)
    const usage = stepUsage(part)
    state.steps = addUsage(state.steps, usage)
    state.stepSeen = true
    state.reason = asText(part.reason)
    return [usage]
  },

  error(state, native) {
    const error = fields(native, 'error')
    state.failure = failureOf(error)
    return [errorNotice(error)]
  },
})

/** `opencode run --format json`: complete parts, no deltas, and no final result. */
export const codec: Codec<RunCodecState> = {
  initial: initialState,

  decode(state, frame) {
    if (frame.stream === 'stderr') return decodeStderr(frame.text)
    const native = frame.value
    if (!isFields(native)) return malformed(frame.text)
    const rule = ruleOf(native.type)
    if (!rule) return unmapped(text(native, 'type') ?? '?', frame.text)
    const emitted = rule(state, native)
    return emitAll(state.nativeSessionId === undefined ? [...handshake(state, native), ...emitted] : emitted)
  },

  encode: (state, command) => encodeOneshot('opencode', state.start, command),

  finished: hasEnded,

  end: (state, exit) => emitAll(endTurn(state, exit)),
}

/** There is no handshake; the first frame names the session. */
function handshake(state: RunCodecState, native: Fields): Emitted[] {
  const id = text(native, 'sessionID')
  if (id === undefined) return []
  state.nativeSessionId = id
  return [{ type: 'session.updated', nativeSessionId: id }]
}

function wholeMessage(state: RunCodecState, kind: 'text' | 'thinking', { id, text }: Fields): Emitted {
  const whole = asText(text) ?? ''
  if (kind === 'text') state.answer = whole
  return completeMessage(state.ledger, kind, asText(id) ?? generateId(state), whole)
}

/** A call is reported at its end, so its start and end are emitted together. */
function wholeCall(state: RunCodecState, part: Fields): readonly Emitted[] {
  const { ledger } = state
  const call = asFields(part.state)
  if (isPruned(call)) return NOTHING
  const name = asText(part.tool) ?? '?'
  const nativeId = asText(part.callID) ?? generateId(state)
  const kind = kindOf(name, state.mcpServers)
  const result = resultOf(name, call, 'policy')
  const emitted = [
    startTool(ledger, { toolId: nativeId, name, kind, title: titleOf(call), input: call.input }),
  ]
  if (name === 'todowrite' && result.status === 'success') {
    emitted.push({ type: 'plan.updated', items: planOf(asFields(call.input)) })
  }
  if (name === 'task') emitted.push(...wholeChild(state, call, result, toolIdOf(ledger, nativeId)))
  state.rejected ||= isRejected(call)
  emitted.push(...finishTool(ledger, nativeId, result, changesOf(call)))
  return emitted
}

/** Only the call of a sub-agent is on the stream. */
function wholeChild(state: RunCodecState, call: Fields, { status }: ToolResult, toolId: string): Emitted[] {
  const child = childOf(call)
  if (!child) return []
  state.delegated = true
  const label = titleOf(call) ?? 'task'
  const ended = status === 'success' || status === 'cancelled' ? status : 'error'
  return [
    ...startSubagent(state.ledger, { ...child, toolId, label }),
    ...finishSubagent(state.ledger, child.id, { status: ended }),
  ]
}

function decodeStderr(line: string): Decoded {
  const emitted: Emitted[] = [{ type: 'output.written', stream: 'stderr', line }]
  const asked = line.indexOf('permission requested:')
  if (asked >= 0 && line.includes('auto-rejecting')) {
    const message = plain(line.slice(asked))
    emitted.push({ type: 'notice.raised', level: 'warning', code: 'tool_refused', message })
  }
  return emitAll(emitted)
}
