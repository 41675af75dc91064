import type { ErrorInfo, Evidence } from '../../../model/index.ts'
import type { Emitted, Exit, TurnVerdict } from '../../agent.ts'
import { exitWithoutResult } from '../../kit/exit-without-result.ts'
import { compact } from '../../kit/fields.ts'
import { settleTurn } from '../../kit/settle.ts'
import { codeOfText, continues, failureOfReason } from '../errors.ts'
import { abandonHeld } from './frame-buffer.ts'
import { openAllHeld } from './requests.ts'
import { closeTurn, type ServeState } from './state.ts'

/**
 * Settles the open turn: at the idle event that closes it, or on exit of the process. `lost` is why the server will
 * never end it.
 */
export function endTurn(state: ServeState, exit?: Exit, lost?: string): Emitted[] {
  const verdict = { ...verdictOf(state, exit), ...compact({ lost }) }
  const emitted = [
    ...abandonHeld(state),
    ...openAllHeld(state),
    ...settleTurn(state.ledger, verdict, 'computed', exit),
  ]
  if (verdict.evidence === 'aborted') state.aborting = false
  closeTurn(state)
  state.wasAborted = verdict.evidence === 'aborted'
  return emitted
}

function verdictOf(state: ServeState, exit: Exit | undefined): TurnVerdict {
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
      usage: state.turn.used,
      result: evidence === 'success' ? root?.answer : undefined,
      structured: evidence === 'success' ? state.turn.structured : undefined,
      durationMs: durationOf(state),
      nativeReason: root?.failure?.name ?? root?.reason,
    }),
  }
}

function durationOf({ turn: { beganAt, doneAt } }: ServeState): number | undefined {
  return beganAt === undefined || doneAt === undefined ? undefined : Math.max(0, doneAt - beganAt)
}

function evidenceOf(state: ServeState, exit: Exit | undefined): [Evidence, ErrorInfo?] {
  const failure = state.root?.failure ?? state.openFailure
  if (failure) return [failure.evidence, failure.error]
  if (!exit) {
    const cut = failureOfReason(state.root?.reason)
    if (cut) return [cut.evidence, cut.error]
    return [state.turn.aborted && continues(state.root?.reason) ? 'aborted' : 'success']
  }
  if (!exit.error && exit.cause === 'interrupt') return ['aborted']
  const { evidence, error } = exitWithoutResult(exit, state.root !== undefined, codeOfText)
  return error ? [evidence, error] : [evidence]
}
