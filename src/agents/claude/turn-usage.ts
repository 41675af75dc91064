import { addUsage, isZeroUsage, subtractUsage, type Usage } from '../../model/index.ts'
import type { Emitted } from '../agent.ts'
import { amount, type Fields, fields, isFields } from '../kit/fields.ts'
import type { ClaudeState } from './state.ts'
import { type ModelUsage, modelUsagesOf, usageOf } from './usage.ts'

type Models = ReadonlyMap<string, ModelUsage>

interface ResultUsage {
  usage: Usage
  /** Summed from the steps, because the result has no usage. */
  computed: boolean
  models: Models
}

/**
 * The usage that a result adds to its turn. Its `usage` covers the main thread only; the usage by model and the cost
 * include sub-agents.
 */
export function usageOfResult(state: ClaudeState, native: Fields, aborted: boolean): ResultUsage {
  const main = usageOf(fields(native, 'usage'))
  const models = modelsSince(state, native)
  const costUsd = costOf(state, native, models)
  const counts = models ? countsOf(state, models, main) : main
  // After an interrupt all counts are zero: the steps are more accurate, and without steps the usage is unknown.
  const computed = state.turn.stepSeen && isZeroUsage(counts)
  const unknown = computed || (aborted && isZeroUsage(counts))
  if (!unknown) state.turn.mainThread = addUsage(state.turn.mainThread, main)
  const usage = {
    ...(unknown ? state.turn.steps : counts),
    // A zero cost for used tokens is not a cost.
    ...(costUsd !== undefined && !(unknown && costUsd === 0) && { costUsd }),
  }
  return { usage, computed, models: models ?? new Map() }
}

function countsOf({ turn: { result } }: ClaudeState, models: Models, main: Usage): Usage {
  let sum: Usage = {}
  for (const { costUsd: _, contextWindow: __, ...counts } of models.values()) sum = addUsage(sum, counts)
  // A process that waited for background work includes it, and its last call, in the first of its results.
  if (models.size === 0) return result ? sum : main
  // A call whose stream broke is counted on the main thread only.
  return (main.total ?? 0) > (sum.total ?? 0) ? main : sum
}

/**
 * The usage by model since the last result; older versions report running totals, which start at an unknown base in a
 * resumed process.
 */
function modelsSince(state: ClaudeState, native: Fields): Models | undefined {
  if (isFields(native.model_usage_since_last_result))
    return modelUsagesOf(native.model_usage_since_last_result)
  if (!isFields(native.modelUsage)) return undefined
  const before = state.modelsBefore
  const now = modelUsagesOf(native.modelUsage)
  state.modelsBefore = now
  if (!before) return undefined
  const since = new Map<string, ModelUsage>()
  for (const [model, usage] of now) {
    const used = subtractUsage(usage, before.get(model) ?? {})
    if (!isZeroUsage(used)) since.set(model, { ...usage, ...used })
  }
  return since
}

/** The total continues from an earlier process of the session, so only the cost of this result counts. */
function costOf(state: ClaudeState, native: Fields, models: Models | undefined): number | undefined {
  const total = amount(native, 'total_cost_usd')
  const before = state.costBefore
  state.costBefore = total ?? before
  if (models && isFields(native.model_usage_since_last_result)) {
    const costs = [...models.values()].map((model) => model.costUsd)
    if (!costs.includes(undefined)) return costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0)
  }
  return total === undefined || before === undefined ? undefined : Math.max(0, total - before)
}

export function addModels(before: Models, now: Models): Models {
  const models = new Map(before)
  for (const [model, usage] of now) {
    models.set(model, { ...usage, ...addUsage(before.get(model) ?? {}, usage) })
  }
  return models
}

/** One message of a sub-agent is one model call. Its prompt count is exact; its output count is a placeholder. */
export function noteInnerCall(state: ClaudeState, parent: string, messageId: string, native: Fields): void {
  const { total, output = 0 } = usageOf(native)
  if (total === undefined) return
  let calls = state.turn.innerCalls.get(parent)
  if (!calls) {
    calls = new Map()
    state.turn.innerCalls.set(parent, calls)
  }
  calls.set(messageId, total - output)
}

/** The last call of a sub-agent: its message is not always shown, but the result of the sub-agent's call counts it. */
export function noteLastCall(state: ClaudeState, result: Fields): void {
  const { total = 0, output = 0 } = usageOf(fields(result, 'usage'))
  state.turn.lastCalls += total - output
}

/**
 * The usage of the turn's sub-agents: the total minus the main thread. Claude also makes other calls, such as those of
 * its permission classifier, so this is reported only if it equals the sum of the sub-agents' prompts.
 */
export function subagentUsage({ turn }: ClaudeState): Emitted[] {
  const { result, mainThread, innerCalls, lastCalls } = turn
  if (!result || result.computed || innerCalls.size === 0) return []
  const { costUsd: _, ...all } = result.usage
  const rest = subtractUsage(all, mainThread)
  let prompts = 0
  for (const calls of innerCalls.values()) for (const tokens of calls.values()) prompts += tokens
  const used = (rest.total ?? 0) - (rest.output ?? 0)
  if (used === 0 || (used !== prompts && used !== prompts + lastCalls)) return []
  const [subagentId] = innerCalls.size === 1 ? innerCalls.keys() : []
  const whose = subagentId === undefined ? {} : { subagentId }
  return [{ type: 'usage.reported', scope: 'subagent', ...whose, ...rest, source: 'computed' }]
}
