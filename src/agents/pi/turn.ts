import { type ErrorInfo, type Evidence, isZeroUsage } from '../../model/index.ts'
import type { Decoded, Emitted, Exit, TurnVerdict } from '../agent.ts'
import { emit, emitAll, nothing } from '../kit/decoded.ts'
import { exitWithoutResult } from '../kit/exit-without-result.ts'
import { compact, type Fields, flag, text } from '../kit/fields.ts'
import { settleTurn } from '../kit/settle.ts'
import { codeOf } from './errors.ts'
import { closeTurn, type PiState } from './state.ts'
import { textOf } from './tools.ts'

/** A run starts: for our prompt, after a retry, or because an extension requests it. */
export function decodeRunStart(state: PiState): Decoded {
  state.running = true
  state.turn.settled = false
  if (state.turn.open) return nothing
  state.turn.open = true
  return emit({ type: 'turn.started', origin: 'agent' })
}

const strayEnd: Emitted = {
  type: 'notice.raised',
  level: 'warning',
  code: 'late_frame',
  message: 'Ignored the end of a run without an open prompt.',
}

/** Pi will not continue by itself. A one-shot process may still start another run; only its exit ends the turn. */
export function decodeSettled(state: PiState, native: Fields): Decoded {
  // Each run settles once: a run that did not start after the prompt is an earlier one.
  if (!state.running && state.start.launch === 'live') return emit(strayEnd)
  state.running = false
  state.turn.settled = true
  state.turn.aborted = flag(native, 'aborted')
  if (!state.turn.open) return nothing
  return emitAll(state.start.launch === 'live' ? endTurn(state) : [])
}

export function endTurn(state: PiState, exit?: Exit): Emitted[] {
  const verdict = verdictOf(state, exit)
  const emitted = settleTurn(state.ledger, verdict, 'computed', exit)
  if (verdict.evidence === 'aborted') state.calls.confirmInterrupts()
  closeTurn(state)
  return emitted
}

function verdictOf(state: PiState, exit: Exit | undefined): TurnVerdict {
  const { denials, personDenials } = state.ledger
  const usage = isZeroUsage(state.turn.used) ? undefined : state.turn.used
  const base = { type: 'turn.verdict' as const, denials, personDenials, ...compact({ usage }) }
  if (exit?.error) return { ...base, evidence: 'error', error: exit.error }
  if (state.turn.failure) return { ...base, evidence: 'error', error: state.turn.failure }
  if (!state.turn.settled) return { ...base, ...silentVerdict(state, exit) }
  const { last } = state.turn
  const [evidence, error] = evidenceOf(state, last)
  const nativeReason = last && (text(last, 'rawStopReason') ?? text(last, 'stopReason'))
  const result = evidence === 'success' && last ? textOf(last.content) : undefined
  return { ...base, evidence, ...compact({ error, result, nativeReason }) }
}

function evidenceOf(state: PiState, last: Fields | undefined): [Evidence, ErrorInfo?] {
  if (state.turn.aborted) return ['aborted']
  // A command of an extension needs no model output.
  if (!last) return ['success']
  const message = text(last, 'errorMessage') ?? 'the model failed without a reason'
  switch (text(last, 'stopReason')) {
    case 'stop':
    case 'toolUse':
      return ['success']
    case 'length':
      return ['error', { code: 'output_truncated', message: 'the model reached its limit of output tokens' }]
    case 'aborted':
      return ['aborted']
    default:
      return text(last, 'rawStopReason') === 'refusal'
        ? ['refusal', { code: 'invalid_request', message }]
        : ['error', { code: codeOf(message), message }]
  }
}

/** Without a result the process crashed or never started a turn. */
function silentVerdict(state: PiState, exit: Exit | undefined): { evidence: Evidence; error?: ErrorInfo } {
  if (!exit) return { evidence: 'none' }
  const { code, stderr: message = '' } = exit
  // Pi asks on the terminal whether to use a session of another directory, and exits with 0.
  const unasked = code === 0 && !state.running && codeOf(message) === 'session_not_found'
  if (unasked) return { evidence: 'error', error: { code: 'session_not_found', message } }
  return exitWithoutResult(exit, state.running, codeOf)
}
