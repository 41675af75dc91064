import { decide, type ErrorInfo, type Evidence } from '../../../model/index.ts'
import type { Emitted, Exit, TurnVerdict } from '../../agent.ts'
import { exitWithoutResult } from '../../exit-without-result.ts'
import { compact } from '../../fields.ts'
import { settle } from '../../settle.ts'
import { codeOfText, continues, failureOfReason } from '../errors.ts'
import { abandonHeld } from './frame-buffer.ts'
import { resetTurn, type State } from './state.ts'

/** Settles the open turn: at the idle event that closes it, or on exit of the process. */
export function endTurn(state: State, exit?: Exit): Emitted[] {
  const verdict = verdictOf(state, exit)
  const emitted = abandonHeld(state)
  emitted.push(
    ...settle(state.ledger, decide(verdict, exit?.cause ?? 'exit', exit?.code), exit !== undefined),
  )
  // Settling may have found more denials.
  verdict.denials = state.ledger.denials
  verdict.personDenials = state.ledger.personDenials
  if (verdict.usage)
    emitted.push({ type: 'usage.reported', scope: 'turn', ...verdict.usage, source: 'computed' })
  emitted.push(verdict)
  if (verdict.evidence === 'aborted') state.aborting = false
  resetTurn(state)
  state.wasAborted = verdict.evidence === 'aborted'
  return emitted
}

function verdictOf(state: State, exit: Exit | undefined): TurnVerdict {
  const { root } = state
  const { denials, personDenials } = state.ledger
  const [evidence, error] = evidenceOf(state, exit)
  return {
    type: 'turn.verdict',
    evidence,
    denials,
    personDenials,
    ...compact({
      error,
      usage: state.used,
      result: evidence === 'success' ? root?.answer : undefined,
      structured: evidence === 'success' ? state.structured : undefined,
      durationMs: durationOf(state),
      nativeReason: root?.failure?.name ?? root?.reason,
    }),
  }
}

function durationOf({ beganAt, doneAt }: State): number | undefined {
  return beganAt === undefined || doneAt === undefined ? undefined : Math.max(0, doneAt - beganAt)
}

function evidenceOf(state: State, exit: Exit | undefined): [Evidence, ErrorInfo?] {
  const failure = state.root?.failure ?? state.openFailure
  if (failure) return [failure.evidence, failure.error]
  if (!exit) {
    const cut = failureOfReason(state.root?.reason)
    if (cut) return [cut.evidence, cut.error]
    return [state.aborted && continues(state.root?.reason) ? 'aborted' : 'success']
  }
  if (!exit.error && exit.cause === 'interrupt') return ['aborted']
  const { evidence, error } = exitWithoutResult(exit, state.root !== undefined, codeOfText)
  return error ? [evidence, error] : [evidence]
}
