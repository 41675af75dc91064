import { decide, type ErrorInfo, type Evidence } from '../../../model/index.ts'
import type { Exit, Said, TurnVerdict } from '../../agent.ts'
import { compact } from '../../fields.ts'
import { settle } from '../../settle.ts'
import { codeOfText, failureOfReason, goesOn } from '../errors.ts'
import type { State } from './state.ts'

/** The run is over; its last step and its exit are all there is to judge it by. */
export function endTurn(state: State, exit: Exit): Said[] {
  const verdict = verdictOf(state, exit)
  const said = settle(state.ledger, decide(verdict, exit.cause, exit.code), true)
  verdict.denials = state.ledger.denials
  if (verdict.usage)
    said.push({ type: 'usage.reported', scope: 'turn', ...verdict.usage, source: 'computed' })
  said.push(verdict)
  return said
}

function verdictOf(state: State, exit: Exit): TurnVerdict {
  const { denials, personDenials } = state.ledger
  const [evidence, error] = evidenceOf(state, exit)
  return {
    type: 'turn.verdict',
    evidence,
    denials,
    personDenials,
    ...compact({
      error,
      usage: state.stepSeen ? state.steps : undefined,
      result: evidence === 'success' ? state.answer : undefined,
      nativeReason: state.failure?.name ?? state.reason,
    }),
  }
}

function evidenceOf(state: State, exit: Exit): [Evidence, ErrorInfo?] {
  if (exit.error) return ['error', exit.error]
  const failure = state.failure ?? failureOfReason(state.reason)
  if (failure) return [failure.evidence, failure.error]
  if (exit.code === undefined) return ['none']
  if (state.nativeSessionId === undefined) return neverStarted(state, exit.code)
  // A call that was rejected ends the run, in the middle of its loop and with exit code 0.
  const ended = state.reason !== undefined && (state.rejected || !goesOn(state.reason))
  return [ended ? 'success' : 'none']
}

function neverStarted(state: State, exitCode: number): [Evidence, ErrorInfo?] {
  const message = state.stderr.join('\n')
  if (exitCode === 0 || message === '') return ['none']
  return ['error', { code: codeOfText(message), message }]
}
