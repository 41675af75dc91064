import type { ErrorInfo, Evidence } from '../../model/index.ts'
import type { Emitted, Exit, TurnVerdict } from '../agent.ts'
import { exitWithoutResult } from '../kit/exit-without-result.ts'
import { compact, count, type Fields, fields, isFields, text } from '../kit/fields.ts'
import { settleTurn } from '../kit/settle.ts'
import { codeOfExit, codeOfFailure } from './errors.ts'
import type { GeminiState } from './state.ts'
import { usageOf } from './usage.ts'

/** Exit codes of a run that exceeded its step limit, and of one that was cancelled at its terminal. */
const TURN_LIMIT = 53
const CANCELLED = 130

/** Whether an output of the documented format, which has no result, is complete. */
export function endsDocumented({ isDocumented, result, failure }: GeminiState, exit: Exit): boolean {
  return isDocumented && !result && !failure && exit.code === 0 && exit.cause === 'exit'
}

/** Ends the only turn of the process: the last result decides, if there is one. */
export function endTurn(state: GeminiState, exit: Exit): Emitted[] {
  return settleTurn(state.ledger, verdictOf(state, exit), 'agent', exit)
}

function verdictOf(state: GeminiState, exit: Exit): TurnVerdict {
  const { denials, personDenials } = state.ledger
  const base = { type: 'turn.verdict' as const, denials, personDenials }
  if (exit.error) return { ...base, evidence: 'error', error: exit.error }
  if (!state.result) return { ...base, ...silentVerdict(state, exit) }
  const stats = fields(state.result, 'stats')
  const [evidence, error] = evidenceOf(state, state.result, exit)
  return {
    ...base,
    evidence,
    ...compact({
      error,
      usage: usageOf(stats),
      result: evidence === 'success' ? state.answer : undefined,
      nativeReason: text(fields(state.result, 'error'), 'type') ?? text(state.result, 'status'),
      durationMs: count(stats, 'duration_ms'),
    }),
  }
}

function evidenceOf(state: GeminiState, result: Fields, exit: Exit): [Evidence, ErrorInfo?] {
  const status = text(result, 'status')
  if (status === 'success') return ['success']
  if (status === 'cancelled') return ['aborted']
  if (!isFields(result.error)) {
    // A blocked answer is an error without a reason; the event before it has the reason.
    const message = state.lastError ?? 'the result is an error without a reason'
    const blocked = /blocked|safety/i.test(message)
    return blocked
      ? ['refusal', { code: 'invalid_request', message }]
      : ['error', state.failure ?? { code: 'unknown', message }]
  }
  const message = text(result.error, 'message') ?? ''
  const type = text(result.error, 'type')
  if (type === 'FatalTurnLimitedError' || exit.code === TURN_LIMIT)
    return ['max_steps', { code: 'unknown', message }]
  if (type === 'FatalCancellationError' || exit.code === CANCELLED) return ['aborted']
  return ['error', { code: codeOfFailure(message, exit.code), message }]
}

/** Without a result: a signal ends Gemini with code 0 and no output, so only its exit codes and stderr are evidence. */
function silentVerdict(state: GeminiState, exit: Exit): Pick<TurnVerdict, 'evidence' | 'error' | 'result'> {
  const { code, stderr = '' } = exit
  if (endsDocumented(state, exit)) return { evidence: 'success', ...compact({ result: state.answer }) }
  if (state.failure) return { evidence: 'error', error: state.failure }
  if (code === CANCELLED) return { evidence: 'aborted' }
  if (code === undefined || code === 0) return crash(exit)
  const message = stderr === '' ? `it exited with code ${code}` : stderr
  if (code === TURN_LIMIT) return { evidence: 'max_steps', error: { code: 'unknown', message } }
  const why = codeOfExit(code, stderr)
  // A generic exit code needs a message to be a reason, and a run that had started prints other messages.
  const begun = state.nativeSessionId !== undefined
  if (why === 'unknown' && (begun || stderr === '')) return crash(exit)
  return { evidence: 'error', error: { code: why, message } }
}

function crash(exit: Exit): { evidence: Evidence; error?: ErrorInfo } {
  return exitWithoutResult(exit, true, (message) => codeOfFailure(message, undefined))
}
