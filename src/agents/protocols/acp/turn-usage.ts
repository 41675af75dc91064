import { isZeroUsage, subtractUsage, type Usage } from '../../../model/index.ts'
import type { Emitted } from '../../agent.ts'
import { type Fields, isFields } from '../../kit/fields.ts'
import type { AcpState, AcpTurn } from './state.ts'
import { usageByModel, usageOfAnswer } from './usage.ts'

/** The usage in an answer; `whole` if it includes sub-agents. */
interface Told {
  readonly usage?: Usage | undefined
  readonly whole?: boolean
}

/** Reports the usage of an ending turn, from its answer, its model calls and the running cost. */
export function reportUsage(state: AcpState, turn: AcpTurn, answer: Fields = {}): Emitted[] {
  const { usage: told, whole } = toldUsage(state, isFields(answer.result) ? answer.result : answer)
  const costUsd = turnCost(state)
  const emitted: Emitted[] = []
  let usage: Usage | undefined = told && !isZeroUsage(told) ? told : undefined
  // A turn without tools has one model call, so the usage of the last call is complete.
  if (usage && state.quirks.usageOfLastStep && turn.tools > 0) {
    emitted.push({ type: 'usage.reported', scope: 'step', ...usage, source: 'agent' })
    usage = undefined
  }
  const source = usage === undefined && turn.steps !== undefined ? 'computed' : 'agent'
  usage ??= turn.steps
  if (costUsd !== undefined) usage = { ...usage, costUsd }
  if (usage && (turn.uncounted || (turn.delegated && !whole))) usage = { ...usage, partial: true }
  // An interrupted turn reports all zeros, which is not its usage.
  if (usage && !isZeroUsage(usage)) emitted.push({ type: 'usage.reported', scope: 'turn', ...usage, source })
  return emitted
}

function toldUsage(state: AcpState, native: Fields): Told {
  const usage = usageOfAnswer(native)
  if (state.quirks.usageIsTotal) return { usage: usage && sinceLast(state, usage), whole: true }
  const all = state.quirks.countsByModel ? usageByModel(native) : undefined
  if (!all) return { usage }
  const { resumed } = state
  state.resumed = false
  // The first answer after a resume has no earlier total to subtract, and counts the main thread alone.
  return { usage: isZeroUsage(all) ? usage : all, whole: !resumed }
}

/** Turns a running total into the usage of the turn. An interrupted turn may report zeros, which are no total. */
function sinceLast(state: AcpState, total: Usage): Usage {
  if (isZeroUsage(total)) return total
  const before = state.usageBefore
  state.usageBefore = total
  // A total below the last one has started again.
  return (total.total ?? 0) < (before.total ?? 0) ? total : subtractUsage(total, before)
}

/** Cost is reported as the running total of the session, over all its processes. */
function turnCost(state: AcpState): number | undefined {
  const { cost, costBefore } = state
  if (cost === undefined) return undefined
  state.cost = undefined
  state.costBefore = cost
  return costBefore === undefined ? undefined : Math.max(0, Math.round((cost - costBefore) * 1e10) / 1e10)
}

export function usageIn(emitted: readonly Emitted[]): Usage | undefined {
  const reported = emitted.findLast((event) => event.type === 'usage.reported' && event.scope === 'turn')
  if (reported?.type !== 'usage.reported') return undefined
  const { type: _, scope: __, source: ___, ...usage } = reported
  return usage
}
