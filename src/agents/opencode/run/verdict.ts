import { decide, type ErrorInfo, type Evidence, type Usage } from '../../../model/index.ts'
import type { Emitted, Exit, TurnVerdict } from '../../agent.ts'
import { exitWithoutResult } from '../../exit-without-result.ts'
import { compact } from '../../fields.ts'
import { settle } from '../../settle.ts'
import { codeOfText, continues, failureOfReason } from '../errors.ts'
import type { State } from './state.ts'

/** Ends the turn; the last step and the exit are the only evidence. */
export function endTurn(state: State, exit: Exit): Emitted[] {
  const verdict = verdictOf(state, exit)
  const emitted = settle(state.ledger, decide(verdict, exit.cause, exit.code), true)
  verdict.denials = state.ledger.denials
  if (verdict.usage)
    emitted.push({ type: 'usage.reported', scope: 'turn', ...verdict.usage, source: 'computed' })
  emitted.push(verdict)
  return emitted
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
      usage: usageOf(state),
      result: evidence === 'success' ? state.answer : undefined,
      nativeReason: state.failure?.name ?? state.reason,
    }),
  }
}

/** A rejected call ends the run in the middle of its loop, with exit code 0. */
export function hasEnded({ reason, rejected, failure }: State): boolean {
  return failure !== undefined || (reason !== undefined && (rejected || !continues(reason)))
}

function usageOf({ stepSeen, steps, delegated }: State): Usage | undefined {
  if (!stepSeen) return undefined
  return delegated ? { ...steps, partial: true } : steps
}

function evidenceOf(state: State, exit: Exit): [Evidence, ErrorInfo?] {
  if (exit.error) return ['error', exit.error]
  const failure = state.failure ?? failureOfReason(state.reason)
  if (failure) return [failure.evidence, failure.error]
  if (hasEnded(state) && exit.code !== undefined && state.nativeSessionId !== undefined) return ['success']
  const { evidence, error } = exitWithoutResult(exit, state.nativeSessionId !== undefined, codeOfText)
  return error ? [evidence, error] : [evidence]
}
