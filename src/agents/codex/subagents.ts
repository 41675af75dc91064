import type { SubagentCompleted, SubagentStarted } from '../../model/events/work.ts'
import { compact, type Fields, isFields, text, texts } from '../fields.ts'
import { ruleTable } from '../rules.ts'

const endOf = ruleTable<SubagentCompleted['status']>({
  completed: 'success',
  errored: 'error',
  interrupted: 'cancelled',
  shutdown: 'cancelled',
})

interface Ended {
  id: string
  status: SubagentCompleted['status']
  summary?: string
}

/** The agents that a call about agents found at their end. */
export function endedAgents(item: Fields): Ended[] {
  const states = isFields(item.agentsStates) ? item.agentsStates : item.agents_states
  const ended: Ended[] = []
  // Asked of every call, and few are about agents.
  if (!isFields(states)) return ended
  for (const [id, state] of Object.entries(states)) {
    const status = isFields(state) ? endOf(state.status) : undefined
    if (isFields(state) && status) ended.push({ id, status, ...compact({ summary: text(state, 'message') }) })
  }
  return ended
}

/** The threads that a call is about. */
export function receiversOf(item: Fields): string[] {
  return texts(item, 'receiverThreadIds') ?? texts(item, 'receiver_thread_ids') ?? []
}

/** The agents that a call started. Each is a thread of its own and goes on when the turn of its parent ends. */
export function spawnedAgents(
  item: Fields,
  toolId: string,
  parent?: string,
): Omit<SubagentStarted, 'type'>[] {
  if (item.tool !== 'spawn_agent' && item.tool !== 'spawnAgent') return []
  const prompt = text(item, 'prompt')
  return receiversOf(item).map((id) => ({
    id,
    toolId,
    label: prompt?.split('\n', 1)[0] || 'sub-agent',
    background: true,
    ...compact({ prompt, model: text(item, 'model') || undefined, parent }),
  }))
}
