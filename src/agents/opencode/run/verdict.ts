import type { ErrorInfo, Evidence, Usage } from '../../../model/index.ts'
import type { Emitted, Exit, TurnVerdict } from '../../agent.ts'
import { exitWithoutResult } from '../../kit/exit-without-result.ts'
import { compact } from '../../kit/fields.ts'
import { settleTurn } from '../../kit/settle.ts'
import { codeOfText, continues, failureOfReason } from '../errors.ts'
import type { RunCodecState } from './state.ts'

/** Ends the turn; the last step and the exit are the only evidence. */
export function endTurn(state: RunCodecState, exit: Exit): Emitted[] {
  return settleTurn(state.ledger, verdictOf(state, exit), 'computed', exit)
}

function verdictOf(state: RunCodecState, exit: Exit): TurnVerdict {
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
export function hasEnded({ reason, rejected, failure }: RunCodecState): boolean {
  return failure !== undefined || (reason !== undefined && (rejected || !continues(reason)))
}

function usageOf({ stepSeen, steps, delegated }: RunCodecState): Usage | undefined {
  if (!stepSeen) return undefined
  return delegated ? { ...steps, partial: true } : steps
}

function evidenceOf(state: RunCodecState, exit: Exit): [Evidence, ErrorInfo?] {
  if (exit.error) return ['error', exit.error]
  const failure = state.failure ?? failureOfReason(state.reason)
  if (failure) return [failure.evidence, failure.error]
  if (hasEnded(state) && exit.code !== undefined && state.nativeSessionId !== undefined) return ['success']
  const { evidence, error } = exitWithoutResult(exit, state.nativeSessionId !== undefined, codeOfText)
  return error ? [evidence, error] : [evidence]
}
