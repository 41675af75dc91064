import { addUsage, decide, type ErrorInfo, type Evidence, type Usage } from '../../model/index.ts'
import type { Emitted, Exit, TurnVerdict } from '../agent.ts'
import { exitWithoutResult } from '../kit/exit-without-result.ts'
import { count, type Fields, flag, int, objects, text, texts } from '../kit/fields.ts'
import { exitCodeOf, settle } from '../kit/settle.ts'
import { isAborted } from './binding.ts'
import { codeOfText, errorCodeOf } from './errors.ts'
import { type ClaudeState, closeTurn, forgetVerdict } from './state.ts'
import { EXIT_PLAN } from './tools.ts'
import { addModels, subagentUsage, usageOfResult } from './turn-usage.ts'
import type { ModelUsage } from './usage.ts'

/** A turn may have several results: their usage adds up and the last one decides. */
export function rememberResult(state: ClaudeState, native: Fields, own: boolean): void {
  const before = state.turn.result
  const { usage, computed, models } = usageOfResult(state, native, isAborted(native))
  state.turn.result = {
    native,
    usage: addUsage(before?.usage ?? {}, usage),
    computed: computed || (before?.computed ?? false),
    models: addModels(before?.models ?? new Map(), models),
    denials: own ? 0 : (before?.denials ?? 0) + refusalsIn(state, native),
    own,
  }
  state.turn.steps = {}
  state.turn.stepSeen = false
  if (own) forgetVerdict(state)
  // The model was not called again, so it has not received our prompt.
  if (state.turn.waiting) state.turn.waiting.passed = false
}

/** Staying in plan mode is not a denial, and denials before the turn do not count for it. */
function refusalsIn({ turn: { refusedBetween } }: ClaudeState, native: Fields): number {
  return objects(native, 'permission_denials').filter(
    (item) => item.tool_name !== EXIT_PLAN && !refusedBetween.has(text(item, 'tool_use_id') ?? ''),
  ).length
}

/** Settles the turn with the recorded result. */
export function endTurn(state: ClaudeState, exit?: Exit): Emitted[] {
  const verdict = verdictOf(state, exit)
  const outcome = decide(verdict, exit?.cause ?? 'exit', exit && exitCodeOf(exit))
  const emitted = settle(state.ledger, outcome)
  // No work outlives the process, not even background work.
  if (exit) emitted.push(...settle(state.ledger, 'interrupted', true))
  // Settling may have found more denials.
  verdict.denials = Math.max(verdict.denials, state.ledger.denials)
  verdict.personDenials = state.ledger.personDenials
  const { usage } = verdict
  if (usage) {
    emitted.push(...subagentUsage(state))
    const isReported = state.turn.result && !state.turn.result.computed && !state.turn.stepSeen
    emitted.push({
      type: 'usage.reported',
      scope: 'turn',
      ...usage,
      ...windowOf(state),
      source: isReported ? 'agent' : 'computed',
    })
  }
  emitted.push(verdict)
  if (state.turn.result && wasCut(state.turn.result.native)) state.calls.confirmInterrupts()
  closeTurn(state)
  return emitted
}

/** The context window of the model of the main thread. */
function windowOf({ turn: { result }, known }: ClaudeState): { contextSize?: number } {
  const models = result?.models ?? new Map<string, ModelUsage>()
  const one = models.size === 1 ? [...models.values()][0] : models.get(known.model ?? '')
  return one?.contextWindow === undefined ? {} : { contextSize: one.contextWindow }
}

/** The turn was cancelled, which confirms an interrupt; older versions give no reason. */
function wasCut(native: Fields): boolean {
  return isAborted(native) || text(native, 'subtype') === 'error_during_execution'
}

function verdictOf(state: ClaudeState, exit: Exit | undefined): TurnVerdict {
  if (!state.turn.result || state.turn.result.own) return silentVerdict(state, exit)
  const { native, models, denials } = state.turn.result
  const evidence = evidenceOf(native, state)
  const usage = turnUsage(state)
  const result = text(native, 'result')
  const structured = native.structured_output ?? state.turn.evidence.structured
  const nativeReason = text(native, 'terminal_reason') ?? text(native, 'subtype')
  const error = errorOf(state, native, evidence)
  return {
    type: 'turn.verdict',
    evidence,
    ...(error && { error }),
    ...(evidence === 'success' && result !== undefined && { result }),
    ...(structured !== undefined && { structured }),
    ...(usage && { usage }),
    ...(nativeReason !== undefined && { nativeReason }),
    durationMs: count(native, 'duration_ms') ?? 0,
    // Calls cut off by an interrupt are also listed as denied, although they were not.
    denials: Math.max(evidence === 'aborted' ? 0 : denials, state.ledger.denials),
    personDenials: state.ledger.personDenials,
    ...(models.size > 0 && { data: { models: Object.fromEntries(models) } }),
  }
}

function evidenceOf(native: Fields, state: ClaudeState): Evidence {
  if (isAborted(native)) return 'aborted'
  const subtype = text(native, 'subtype')
  if (subtype === 'error_max_turns') return 'max_steps'
  if (subtype === 'error_max_budget_usd') return 'max_budget'
  // The subtype is "success" for API failures too, so only this flag is reliable.
  if (!flag(native, 'is_error')) return 'success'
  return text(native, 'stop_reason') === 'refusal' || state.turn.evidence.refusal ? 'refusal' : 'error'
}

function errorOf(state: ClaudeState, native: Fields, evidence: Evidence): ErrorInfo | undefined {
  if (evidence === 'success' || evidence === 'aborted') return undefined
  const message =
    text(native, 'result') ?? texts(native, 'errors')?.join('\n') ?? text(native, 'subtype') ?? ''
  if (evidence === 'max_steps' || evidence === 'max_budget') return { code: 'unknown', message }
  if (evidence === 'refusal') return { code: 'invalid_request', message }
  if (text(native, 'stop_reason') === 'max_tokens') return { code: 'output_truncated', message }
  const status = int(native, 'api_error_status')
  if (status !== undefined)
    return { code: errorCodeOf(status, state.turn.evidence.apiError?.word, message), message }
  if (!state.turn.evidence.apiError) return { code: codeOfText(message), message }
  return { code: state.turn.evidence.apiError.code, message: state.turn.evidence.apiError.message }
}

/** The usage of the results, and of the model calls after the last one. */
function turnUsage(state: ClaudeState): Usage | undefined {
  const reported = state.turn.result?.usage ?? {}
  const usage = state.turn.stepSeen ? addUsage(reported, state.turn.steps) : reported
  return Object.keys(usage).length === 0 ? undefined : usage
}

/** Without a result the process crashed or never started a turn. */
function silentVerdict(state: ClaudeState, exit: Exit | undefined): TurnVerdict {
  const { denials, personDenials } = state.ledger
  const usage = turnUsage(state)
  const base = { type: 'turn.verdict' as const, denials, personDenials, ...(usage && { usage }) }
  if (!exit) return { ...base, evidence: 'none' }
  return { ...base, ...exitWithoutResult(exit, state.known.nativeSessionId !== undefined, codeOfText) }
}
