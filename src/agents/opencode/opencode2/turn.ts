import type { ErrorInfo, Evidence } from '../../../model/index.ts'
import type { Emitted, Exit, TurnVerdict } from '../../agent.ts'
import { exitWithoutResult } from '../../kit/exit-without-result.ts'
import { compact } from '../../kit/fields.ts'
import { resetDenials } from '../../kit/ledger.ts'
import { settleTurn } from '../../kit/settle.ts'
import { codeOfText, type Failure, failureOfReason } from '../errors.ts'
import { releaseAll } from './blocks.ts'
import { newTurn, type OpencodeState, type OpencodeTurn } from './state.ts'
import { restart } from './thread.ts'

/** How the execution of a turn ended: the server's report, or the exit of its process. */
export type TurnEnd = { failure?: Failure | undefined; exit?: undefined } | { exit: Exit }

/** A turn that our prompt did not open. */
export function beginTurn(state: OpencodeState, promptId: string, prompt: string | undefined): Emitted {
  state.turn = newTurn(promptId)
  state.turn.accepted = true
  state.turn.delivered = true
  state.turn.executing = true
  state.turn.beganAt = state.clock
  const origin = prompt === undefined ? 'agent' : 'prompt'
  return { type: 'turn.started', origin, ...compact({ prompt }) }
}

/** The prompt that the model works on, if the event of its delivery was missed. */
export function beginMissed(state: OpencodeState): Emitted[] {
  const { turn } = state
  if (turn) {
    turn.delivered ||= turn.accepted && turn.executing
    return []
  }
  const missed = [...state.inbox].find(([, item]) => item.type === 'user' && !item.delivered)
  if (!missed) return [beginTurn(state, '', undefined)]
  const [id, item] = missed
  item.delivered = true
  return [beginTurn(state, id, item.text)]
}

export function endTurn(state: OpencodeState, end: TurnEnd = {}): Emitted[] {
  const { turn } = state
  if (!turn) return []
  const { exit } = end
  const emitted: Emitted[] = []
  for (const thread of state.threads.values()) emitted.push(...releaseAll(state, thread))
  const verdict = verdictOf(state, turn, end)
  emitted.push(...settleTurn(state.ledger, verdict, 'computed', exit))
  closeTurn(state)
  return emitted
}

function closeTurn(state: OpencodeState): void {
  state.turn = undefined
  state.aborting = false
  state.steps.clear()
  resetDenials(state.ledger)
  for (const [id, item] of state.inbox) if (item.delivered) state.inbox.delete(id)
  for (const [id, thread] of state.threads) {
    if (thread !== state.root && !state.ledger.subagents.has(id)) state.threads.delete(id)
  }
  if (state.root) restart(state.root)
}

function verdictOf(state: OpencodeState, turn: OpencodeTurn, end: TurnEnd): TurnVerdict {
  const { root, ledger } = state
  const [evidence, error] = evidenceOf(state, end)
  const failure = end.exit ? undefined : end.failure
  const took =
    turn.beganAt === undefined || turn.doneAt === undefined ? undefined : turn.doneAt - turn.beganAt
  return {
    type: 'turn.verdict',
    evidence,
    denials: ledger.denials,
    personDenials: ledger.personDenials,
    ...compact({
      error,
      usage: turn.used,
      result: evidence === 'success' ? root?.answer : undefined,
      durationMs: took === undefined || took < 0 ? undefined : took,
      nativeReason: failure?.name ?? root?.reason,
    }),
    // A prompt that the model never read is not in the conversation.
    ...(evidence === 'aborted' && !turn.delivered && { forgotten: true }),
  }
}

function evidenceOf(state: OpencodeState, end: TurnEnd): [Evidence, ErrorInfo?] {
  const { root, opening } = state
  if (!end.exit) {
    const failure = end.failure ?? failureOfReason(root?.reason)
    if (!failure) return ['success']
    return failure.evidence === 'aborted' ? ['aborted'] : [failure.evidence, failure.error]
  }
  if (opening.failure) return [opening.failure.evidence, opening.failure.error]
  if (!end.exit.error && end.exit.cause === 'interrupt') return ['aborted']
  const { evidence, error } = exitWithoutResult(end.exit, root !== undefined, codeOfText)
  return error ? [evidence, error] : [evidence]
}
