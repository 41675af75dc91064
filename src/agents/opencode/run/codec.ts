import { addUsage } from '../../../model/index.ts'
import type { Codec, Said, Step } from '../../agent.ts'
import { type Fields, fields, isFields, text } from '../../fields.ts'
import {
  completeMessage,
  finishSubagent,
  finishTool,
  startSubagent,
  startTool,
  toolIdOf,
} from '../../ledger.ts'
import { encodeOneshot } from '../../oneshot.ts'
import { ruleTable } from '../../rules.ts'
import { malformed, oversized, sayAll, unmapped } from '../../step.ts'
import { changesOf, childOf, planOf } from '../effects.ts'
import { errorNotice, failureOf, plain } from '../errors.ts'
import { kindOf, resultOf, titleOf } from '../tools.ts'
import { usageOf } from '../usage.ts'
import { freshId, initialState, type State } from './state.ts'
import { endTurn } from './verdict.ts'

type Rule = (state: State, native: Fields) => Said[]

const ruleOf = ruleTable<Rule>({
  step_start: () => [],
  text: (state, native) => [wholeMessage(state, 'text', fields(native, 'part'))],
  reasoning: (state, native) => [wholeMessage(state, 'thinking', fields(native, 'part'))],
  tool_use: (state, native) => wholeCall(state, fields(native, 'part')),

  step_finish(state, native) {
    const part = fields(native, 'part')
    const usage = usageOf(part)
    state.steps = addUsage(state.steps, usage)
    state.stepSeen = true
    state.reason = text(part, 'reason')
    return [{ type: 'usage.reported', scope: 'step', ...usage, source: 'agent' }]
  },

  error(state, native) {
    const error = fields(native, 'error')
    state.failure = failureOf(error)
    return [errorNotice(error)]
  },
})

/** `opencode run --format json`: whole parts, no deltas, and no word at the end. */
export const codec: Codec<State> = {
  initial: initialState,

  decode(state, frame) {
    if (frame.blob) return oversized(frame.blob)
    if (frame.stream === 'stderr') return decodeStderr(state, frame.text)
    const native = frame.value
    if (!isFields(native)) return malformed(frame.text)
    const rule = ruleOf(native.type)
    if (!rule) return unmapped(text(native, 'type') ?? '?', frame.text)
    return sayAll([...handshake(state, native), ...rule(state, native)])
  },

  encode: (state, command) => encodeOneshot('opencode', state.start, command),

  end: (state, exit) => sayAll(endTurn(state, exit)),
}

/** There is none; the first frame names the session. */
function handshake(state: State, native: Fields): Said[] {
  const id = text(native, 'sessionID')
  if (state.nativeSessionId !== undefined || id === undefined) return []
  state.nativeSessionId = id
  return [{ type: 'session.updated', nativeSessionId: id }]
}

function wholeMessage(state: State, kind: 'text' | 'thinking', part: Fields): Said {
  const whole = text(part, 'text') ?? ''
  if (kind === 'text') state.answer = whole
  return completeMessage(state.ledger, kind, freshId(state, text(part, 'id')), whole)
}

/** A call is told when it is over, so its start and its end are said together. */
function wholeCall(state: State, part: Fields): Said[] {
  const { ledger } = state
  const call = fields(part, 'state')
  const name = text(part, 'tool') ?? '?'
  const nativeId = text(part, 'callID') ?? freshId(state, undefined)
  const toolId = toolIdOf(ledger, nativeId)
  const kind = kindOf(name, state.mcpServers)
  const result = resultOf(name, call, 'policy')
  const said: Said[] = [
    startTool(ledger, { toolId: nativeId, name, kind, title: titleOf(call), input: call.input }),
  ]
  if (name === 'todowrite' && result.status === 'success') {
    said.push({ type: 'plan.updated', items: planOf(fields(call, 'input')) })
  }
  said.push(...wholeChild(state, call, toolId, name))
  state.refused = result.status === 'denied'
  said.push(...finishTool(ledger, nativeId, result, changesOf(call)))
  return said
}

/** Nothing of a sub-agent is on the stream but the call that ran it. */
function wholeChild(state: State, call: Fields, toolId: string, name: string): Said[] {
  const child = name === 'task' ? childOf(call) : undefined
  if (!child) return []
  const label = titleOf(call) ?? name
  const status = text(call, 'status') === 'completed' ? 'success' : 'error'
  return [
    ...startSubagent(state.ledger, { ...child, toolId, label }),
    ...finishSubagent(state.ledger, child.id, { status }),
  ]
}

/** How much of stderr is kept to explain a start that failed. */
const STDERR_LINES = 20

function decodeStderr(state: State, line: string): Step {
  if (state.stderr.length === STDERR_LINES) state.stderr.shift()
  state.stderr.push(plain(line))
  const said: Said[] = [{ type: 'output.written', stream: 'stderr', line }]
  const asked = line.indexOf('permission requested:')
  if (asked >= 0 && line.includes('auto-rejecting')) {
    const message = plain(line.slice(asked))
    said.push({ type: 'notice.raised', level: 'warning', code: 'tool_refused', message })
  }
  return sayAll(said)
}
