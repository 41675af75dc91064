import { decide, type ErrorInfo, type Evidence } from '../../../model/index.ts'
import type { Emitted, Exit, TurnVerdict } from '../../agent.ts'
import { exitWithoutResult } from '../../kit/exit-without-result.ts'
import { type Fields, fields, isFields, number, text } from '../../kit/fields.ts'
import { resetDenials } from '../../kit/ledger.ts'
import { settle } from '../../kit/settle.ts'
import { closeBlock, releaseAside, releaseEcho } from './blocks.ts'
import { codeOfText, errorOf } from './errors.ts'
import { type AcpState, type AcpTurn, beginTurn } from './state.ts'
import { reportUsage, usageIn } from './turn-usage.ts'

/** The end of a turn, as far as the agent reported it. */
export interface AcpEnding {
  /** The response to the prompt, or its substitute. */
  answer?: Fields
  error?: ErrorInfo
  exit?: Exit
}

/** Settles the open turn; the next prompt that was already sent starts its turn. */
export function endTurn(state: AcpState, ending: AcpEnding): Emitted[] {
  const { turn } = state
  if (!turn) return []
  const { evidence, error, reason } = judge(state, turn, ending)
  const emitted = endBlocks(state, turn, evidence, ending.answer)
  const { denials, personDenials } = state.ledger
  const { exit } = ending
  // A call that was open at our cancel was stopped by it, even if the agent reports success.
  const cut = turn.cancelling && !exit && hasOpenCall(state)
  const outcome = decide({ evidence, denials, personDenials, cut }, exit?.cause ?? causeOf(turn), exit?.code)
  emitted.push(...settle(state.ledger, outcome), ...reportUsage(state, turn, ending.answer))
  const usage = usageIn(emitted)
  const verdict: TurnVerdict = {
    type: 'turn.verdict',
    evidence,
    ...(error && { error }),
    ...(evidence === 'success' && turn.answer !== undefined && { result: turn.answer }),
    ...(usage && { usage }),
    ...(reason !== undefined && { nativeReason: reason }),
    // `max_steps` without a tool: the agent stopped the model itself, because it repeated its text.
    ...((evidence === 'aborted' || evidence === 'max_steps') &&
      state.quirks.forgetsCancelled &&
      turn.tools === 0 && { forgotten: true as const }),
    denials: state.ledger.denials,
    personDenials: state.ledger.personDenials,
  }
  emitted.push(verdict)
  forgetTurn(state)
  return [...emitted, ...nextTurn(state)]
}

function hasOpenCall({ ledger }: AcpState): boolean {
  return [...ledger.tools.values()].some(({ parent }) => parent === undefined)
}

/** Only our cancel settles open items as cancelled before the agent confirms it. */
function causeOf(turn: AcpTurn): 'interrupt' | 'exit' {
  return turn.cancelling ? 'interrupt' : 'exit'
}

function judge(
  state: AcpState,
  turn: AcpTurn,
  { answer, error, exit }: AcpEnding,
): { evidence: Evidence; error?: ErrorInfo; reason?: string } {
  if (error) return { evidence: 'error', error }
  if (exit) return exitWithoutResult(exit, state.sessionId !== undefined, codeOfText)
  const native = answer ?? {}
  if (native.error !== undefined && native.error !== null) {
    const code = number(fields(native, 'error'), 'code')
    return { evidence: 'error', error: errorOf(native.error), reason: `error ${code ?? ''}`.trim() }
  }
  const reason = text(native, 'stopReason') ?? text(fields(native, 'result'), 'stopReason')
  const extras = reason === undefined ? {} : { reason }
  switch (reason) {
    case 'end_turn': {
      const failure = reportedFailure(state, turn, native)
      if (failure === undefined) return { evidence: 'success', ...extras }
      return { evidence: 'error', error: { code: codeOfText(failure), message: failure.trim() }, ...extras }
    }
    case 'cancelled':
      return { evidence: 'aborted', ...extras }
    case 'refusal':
      return {
        evidence: 'refusal',
        error: { code: 'invalid_request', message: 'the model declined' },
        ...extras,
      }
    case 'max_turn_requests':
      return {
        evidence: 'max_steps',
        error: { code: 'unknown', message: 'the agent reached its own limit of model calls' },
        ...extras,
      }
    case 'max_tokens':
      return {
        evidence: 'error',
        error: { code: 'output_truncated', message: 'the answer was cut by the token limit' },
        ...extras,
      }
    default: {
      const message = `the turn ended with the unknown reason "${reason ?? ''}"`
      return { evidence: 'error', error: { code: 'protocol_error', message }, ...extras }
    }
  }
}

/** Some agents report a failure as text and end the turn as successful. */
function reportedFailure(state: AcpState, turn: AcpTurn, native: Fields): string | undefined {
  if (turn.failed) return turn.failure ?? 'the agent reported a failure without details'
  return isCounted(state, native) ? undefined : turn.aside?.text
}

/** The usage is reported only for a successful turn. */
function isCounted({ quirks }: AcpState, native: Fields): boolean {
  const { usage } = isFields(native.result) ? native.result : native
  return quirks.failureHasNoId ? usage !== null : isFields(usage)
}

function endBlocks(state: AcpState, turn: AcpTurn, evidence: Evidence, answer: Fields = {}): Emitted[] {
  if (evidence === 'success') return closeBlock(state, turn)
  const emitted: Emitted[] = releaseEcho(state, turn)
  // A chunk without an id may be model output that was cut off.
  if (state.quirks.failureHasNoId && isCounted(state, answer)) emitted.push(...releaseAside(state, turn))
  // The text of the failure is not an answer.
  if (turn.aside) {
    const { text: message } = turn.aside
    emitted.push({ type: 'notice.raised', level: 'error', code: 'agent_error', message })
  }
  return emitted
}

function forgetTurn(state: AcpState): void {
  state.turn = undefined
  resetDenials(state.ledger)
  for (const [id, call] of state.tools) {
    if (call.toolId === undefined || !state.ledger.tools.has(call.toolId)) state.tools.delete(id)
  }
}

/** Starts a prompt that was sent during the previous turn, unless it was already answered. */
function nextTurn(state: AcpState): Emitted[] {
  const next = state.waiting.shift()
  if (!next) return []
  beginTurn(state, next.call)
  const emitted: Emitted[] = [{ type: 'turn.started', origin: 'prompt', prompt: next.text }]
  return next.answer ? [...emitted, ...endTurn(state, { answer: next.answer })] : emitted
}
