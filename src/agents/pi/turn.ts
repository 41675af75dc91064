import { decide, type ErrorInfo, type Evidence, isZeroUsage } from '../../model/index.ts'
import type { Decoded, Emitted, Exit, TurnVerdict } from '../agent.ts'
import { emit, emitAll, nothing } from '../decoded.ts'
import { exitWithoutResult } from '../exit-without-result.ts'
import { compact, type Fields, flag, text } from '../fields.ts'
import { settle } from '../settle.ts'
import { codeOf } from './errors.ts'
import { resetTurn, type State } from './state.ts'
import { textOf } from './tools.ts'

/** A run starts: for our prompt, after a retry, or because an extension requests it. */
export function decodeRunStart(state: State): Decoded {
  state.running = true
  state.settled = false
  if (state.turnOpen) return nothing
  state.turnOpen = true
  return emit({ type: 'turn.started', origin: 'agent' })
}

const strayEnd: Emitted = {
  type: 'notice.raised',
  level: 'warning',
  code: 'late_frame',
  message: 'Ignored the end of a run without an open prompt.',
}

/** Pi will not continue by itself. A one-shot process may still start another run; only its exit ends the turn. */
export function decodeSettled(state: State, native: Fields): Decoded {
  // Each run settles once: a run that did not start after the prompt is an earlier one.
  if (!state.running && state.start.launch === 'live') return emit(strayEnd)
  state.running = false
  state.settled = true
  state.aborted = flag(native, 'aborted')
  if (!state.turnOpen) return nothing
  return emitAll(state.start.launch === 'live' ? endTurn(state) : [])
}

export function endTurn(state: State, exit?: Exit): Emitted[] {
  const verdict = verdictOf(state, exit)
  // A process that was killed by a signal has no exit code; that is not success.
  const exitCode = exit && (exit.code ?? (exit.signal === undefined ? 0 : 1))
  const emitted = settle(state.ledger, decide(verdict, exit?.cause ?? 'exit', exitCode), exit !== undefined)
  verdict.denials = state.ledger.denials
  verdict.personDenials = state.ledger.personDenials
  if (verdict.usage) {
    emitted.push({ type: 'usage.reported', scope: 'turn', ...verdict.usage, source: 'computed' })
  }
  emitted.push(verdict)
  if (verdict.evidence === 'aborted') state.aborts.clear()
  state.ledger.denials = 0
  state.ledger.personDenials = 0
  resetTurn(state)
  return emitted
}

function verdictOf(state: State, exit: Exit | undefined): TurnVerdict {
  const { denials, personDenials } = state.ledger
  const usage = isZeroUsage(state.used) ? undefined : state.used
  const base = { type: 'turn.verdict' as const, denials, personDenials, ...compact({ usage }) }
  if (exit?.error) return { ...base, evidence: 'error', error: exit.error }
  if (state.failure) return { ...base, evidence: 'error', error: state.failure }
  if (!state.settled) return { ...base, ...silentVerdict(state, exit) }
  const { last } = state
  const [evidence, error] = evidenceOf(state, last)
  const nativeReason = last && (text(last, 'rawStopReason') ?? text(last, 'stopReason'))
  const result = evidence === 'success' && last ? textOf(last.content) : undefined
  return { ...base, evidence, ...compact({ error, result, nativeReason }) }
}

function evidenceOf(state: State, last: Fields | undefined): [Evidence, ErrorInfo?] {
  if (state.aborted) return ['aborted']
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
function silentVerdict(state: State, exit: Exit | undefined): { evidence: Evidence; error?: ErrorInfo } {
  if (!exit) return { evidence: 'none' }
  const { code, stderr: message = '' } = exit
  // Pi asks on the terminal whether to use a session of another directory, and exits with 0.
  const unasked = code === 0 && !state.running && codeOf(message) === 'session_not_found'
  if (unasked) return { evidence: 'error', error: { code: 'session_not_found', message } }
  return exitWithoutResult(exit, state.running, codeOf)
}
