import type { Emitted } from '../../agent.ts'
import { type Fields, flag, isFields, list, text } from '../../kit/fields.ts'
import { completeMessage } from '../../kit/messages.ts'
import { ruleTable } from '../../kit/rules.ts'
import { finishSubagent, startSubagent } from '../../kit/subagents.ts'
import { answerText, joinedText } from '../answer.ts'
import { type CallRule, callRules, decodeCall, type ItemPhase } from '../calls.ts'
import { endedAgents, spawnedAgents } from '../subagents.ts'
import type { ExecState, PlanStep } from './state.ts'

type ExecItemRule = (state: ExecState, phase: ItemPhase, id: string, item: Fields) => Emitted[]

const ruleOf = ruleTable<ExecItemRule>({
  ...Object.fromEntries(Object.entries(callRules).map(([type, call]) => [type, ruleOfCall(call)])),

  // Messages arrive complete: they have an end and no start.
  agent_message(state, phase, id, item) {
    if (phase !== 'completed') return []
    state.answer = answerText(item) ?? ''
    return [completeMessage(state.ledger, 'text', id, state.answer)]
  },

  reasoning(state, phase, id, item) {
    if (phase !== 'completed') return []
    const whole = joinedText(item.text) ?? joinedText(item.summary) ?? joinedText(item.content) ?? ''
    return [completeMessage(state.ledger, 'thinking', id, whole)]
  },

  // An `error` item is a warning: only a failed turn is a failure.
  error(_state, phase, _id, item) {
    if (phase !== 'completed') return []
    const message = text(item, 'message') ?? ''
    return [{ type: 'notice.raised', level: 'warning', code: 'agent_warning', message }]
  },

  todo_list(state, _phase, _id, item) {
    const items = list(item, 'items').map(stepOf)
    // The end of the list repeats its last update.
    if (isSamePlan(items, state.plan)) return []
    state.plan = items
    return [{ type: 'plan.updated', items }]
  },
})

function stepOf(todo: unknown): PlanStep {
  if (!isFields(todo)) return { text: String(todo), status: 'pending' }
  return { text: text(todo, 'text') ?? '', status: flag(todo, 'completed') ? 'completed' : 'pending' }
}

function isSamePlan(one: readonly PlanStep[], other: readonly PlanStep[] | undefined): boolean {
  return (
    one.length === other?.length &&
    one.every(({ text, status }, at) => text === other[at]?.text && status === other[at]?.status)
  )
}

function ruleOfCall(call: CallRule): ExecItemRule {
  if (!call.agents) return (state, phase, id, item) => decodeCall(state, call, phase, id, item)
  return (state, phase, id, item) => {
    const emitted = decodeCall(state, call, phase, id, item)
    if (phase === 'completed') emitted.push(...agentsOf(state, id, item))
    return emitted
  }
}

/** Decodes an item; returns undefined for an unknown kind. */
export function decodeItem(
  state: ExecState,
  phase: ItemPhase,
  id: string,
  item: Fields,
): Emitted[] | undefined {
  return ruleOf(item.type)?.(state, phase, id, item)
}

const NONE: readonly Emitted[] = []

function agentsOf(state: ExecState, id: string, item: Fields): readonly Emitted[] {
  const { ledger } = state
  state.delegated = true
  const spawned = spawnedAgents(item, ledger.prefix + id)
  const ended = endedAgents(item)
  // Many calls only poll running sub-agents.
  if (spawned.length + ended.length === 0) return NONE
  const emitted: Emitted[] = []
  for (const agent of spawned) emitted.push(...startSubagent(ledger, agent))
  for (const { id, ...end } of ended) emitted.push(...finishSubagent(ledger, id, end))
  return emitted
}
