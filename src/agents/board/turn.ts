import { decide, type Evidence } from '../../model/index.ts'
import type { Emitted, Exit, TurnVerdict } from '../agent.ts'
import { compact } from '../kit/fields.ts'
import { settleCalls } from './calls.ts'
import type { BoardCodecState, BoardFailure } from './state.ts'

/** A board session has one turn and ends with its connection. */
export function endTurn(state: BoardCodecState, exit: Exit): Emitted[] {
  const { evidence, error, reason } = endOf(state, exit)
  const verdict: TurnVerdict = {
    type: 'turn.verdict',
    evidence,
    denials: 0,
    personDenials: 0,
    ...compact({ error, nativeReason: reason ?? state.standing }),
  }
  const emitted = [...survivor(exit), ...settleCalls(state, decide(verdict, exit.cause, exit.code))]
  verdict.denials = state.ledger.denials
  // The board server already accounted for denials by a person in the outcome.
  verdict.personDenials = state.ledger.denials
  state.turnOpen = false
  return [...emitted, verdict]
}

const ENDS: ReadonlyMap<string, Evidence> = new Map([
  ['done', 'success'],
  ['failed', 'error'],
  ['cancelled', 'aborted'],
])

/** Prefers the board's own report, then the session state, then the end of the connection. */
function endOf(state: BoardCodecState, exit: Exit): BoardFailure {
  if (state.failure) return state.failure
  const { standing } = state
  if (standing !== undefined && standing !== 'running') {
    const evidence = ENDS.get(standing)
    if (evidence && evidence !== 'error') return { evidence }
    const message = `the board ended the session as "${standing}" without a reason`
    return { evidence: 'error', error: { code: evidence ? 'unknown' : 'protocol_error', message } }
  }
  if (exit.error) return { evidence: 'error', error: exit.error }
  return { evidence: exit.cause === 'interrupt' ? 'aborted' : 'none' }
}

/** The remote session may still be running after we stopped: the outcome alone would hide that. */
function survivor({ cause, error }: Exit): Emitted[] {
  if (cause === 'exit' || !error) return []
  return [{ type: 'notice.raised', level: 'warning', code: 'interrupt_refused', message: error.message }]
}
