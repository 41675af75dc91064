import { addUsage, type Usage } from '../../../../model/index.ts'
import type { Codec, Emitted, Exit, Start, TurnVerdict } from '../../../agent.ts'
import { emit, emitAll, malformed, unmapped } from '../../../kit/decoded.ts'
import { compact, type Fields, fields, isFields, text } from '../../../kit/fields.ts'
import { type Ledger, newLedger } from '../../../kit/ledger.ts'
import { completeMessage } from '../../../kit/messages.ts'
import { encodeOneshot } from '../../../kit/oneshot.ts'
import { ruleTable } from '../../../kit/rules.ts'
import { settleTurn } from '../../../kit/settle.ts'
import { finishTool, startTool } from '../../../kit/tools.ts'
import { codeOfText, type Failure, failureOfReason } from '../../errors.ts'
import { stepUsage } from '../../usage.ts'
import { failureOf } from '../errors.ts'
import { errorNotice } from '../executions.ts'
import { changesOf, failedResult, isDeclined, kindOf, successResult, titleOf } from '../tools.ts'

interface RunState {
  readonly start: Start
  readonly ledger: Ledger
  session: string | undefined
  used: Usage | undefined
  answer: string | undefined
  reason: string | undefined
  failure: Failure | undefined
  denied: boolean
}

type LineRule = (state: RunState, part: Fields, native: Fields) => Emitted[]

const ruleOf = ruleTable<LineRule>({
  step_start: () => [],
  text: (state, part) => {
    state.answer = text(part, 'text')
    return [completeMessage(state.ledger, 'text', text(part, 'id') ?? '', state.answer ?? '')]
  },
  reasoning: (state, part) => [
    completeMessage(state.ledger, 'thinking', text(part, 'id') ?? '', text(part, 'text') ?? ''),
  ],
  tool_use: wholeCall,
  step_finish(state, part) {
    const usage = stepUsage(part)
    state.used = addUsage(state.used ?? {}, usage)
    state.reason = text(part, 'reason')
    return [usage]
  },
  error(state, _, native) {
    state.failure = failureOf(fields(native, 'error'))
    return [errorNotice(fields(native, 'error'))]
  },
})

/**
 * The lines of `opencode run --format json` of version 2. Mainstem never runs it, because it omits lines: the start and
 * the end of a step may be missing. This codec only decodes recordings.
 */
export const runLines: Codec<RunState> = {
  initial: (start) => ({
    start,
    ledger: newLedger(),
    session: undefined,
    used: undefined,
    answer: undefined,
    reason: undefined,
    failure: undefined,
    denied: false,
  }),

  decode(state, frame) {
    if (frame.stream === 'stderr') return emit({ type: 'output.written', stream: 'stderr', line: frame.text })
    const native = frame.value
    if (!isFields(native)) return malformed(frame.text)
    const rule = ruleOf(native.type)
    if (!rule) return unmapped(text(native, 'type') ?? '?', frame.text)
    return emitAll([...handshake(state, native), ...rule(state, fields(native, 'part'), native)])
  },

  encode: (state, command) => encodeOneshot('opencode', state.start, command),

  end: (state, exit) => emitAll(ended(state, exit)),
}

/** There is no handshake; the first line names the session. */
function handshake(state: RunState, native: Fields): Emitted[] {
  const id = text(native, 'sessionID')
  if (state.session !== undefined || !id) return []
  state.session = id
  return [{ type: 'session.updated', nativeSessionId: id }]
}

/** A call is reported at its end, so its start and end are emitted together. */
function wholeCall(state: RunState, part: Fields): Emitted[] {
  const { ledger } = state
  const call = fields(part, 'state')
  const toolId = text(part, 'id') ?? ''
  const name = text(part, 'tool') ?? '?'
  const metadata = fields(call, 'metadata')
  const input = fields(call, 'input')
  const kind = kindOf(name, [])
  const started = startTool(ledger, { toolId, name, kind, title: titleOf(input), input: call.input })
  if (text(call, 'status') === 'completed') {
    const data = { content: metadata.content, metadata: metadata.metadata }
    const open = ledger.tools.get(toolId)
    const changes = open ? changesOf(open, data, []) : []
    return [started, ...finishTool(ledger, toolId, successResult(name, data), changes)]
  }
  // The stored error is a text, without its type.
  const error = { type: 'aborted', message: call.error }
  state.denied ||= isDeclined({ error }, undefined)
  const isAborted = isDeclined({ error }, undefined) || /interrupted/.test(text(call, 'error') ?? '')
  const data = { error: isAborted ? error : { message: call.error } }
  return [started, ...finishTool(ledger, toolId, failedResult(data, state.denied ? 'policy' : undefined))]
}

function ended(state: RunState, exit: Exit): Emitted[] {
  return settleTurn(state.ledger, verdictOf(state, exit), 'computed', exit)
}

/** Exit code 0 is a success even if the last line is missing, which loses the reason `length`. */
function verdictOf(state: RunState, exit: Exit): TurnVerdict {
  const { used: usage, answer, reason, denied, ledger } = state
  const { denials, personDenials } = ledger
  const common = { type: 'turn.verdict', denials, personDenials } as const
  const failure = (denied ? undefined : state.failure) ?? failureOfReason(reason)
  const nativeReason = state.failure?.name ?? reason
  if (failure) {
    const { evidence, error } = failure
    return {
      ...common,
      evidence,
      ...(evidence !== 'aborted' && { error }),
      ...compact({ usage, nativeReason }),
    }
  }
  // A denied request ends the run, with exit code 1.
  if (denied) {
    const error = {
      code: 'permission_denied',
      message: 'a request was denied, because nobody could answer it',
    } as const
    return { ...common, evidence: 'error', error, ...compact({ usage, nativeReason, result: answer }) }
  }
  if (exit.code === 0 && state.session !== undefined) {
    return { ...common, evidence: 'success', ...compact({ usage, nativeReason, result: answer }) }
  }
  const message = exit.stderr ?? ''
  const error = message === '' ? undefined : { code: codeOfText(message), message }
  return { ...common, evidence: error ? 'error' : 'none', ...compact({ usage, error }) }
}
