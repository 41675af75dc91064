import type { SubagentCompleted, SubagentStarted } from '../../model/events/work.ts'
import { asText, compact, type Fields, isFields, only, text, texts } from '../kit/fields.ts'
import { ruleTable } from '../kit/rules.ts'

const endOf = ruleTable<SubagentCompleted['status']>({
  completed: 'success',
  errored: 'error',
  interrupted: 'cancelled',
  shutdown: 'cancelled',
})

interface EndedAgent {
  id: string
  status: SubagentCompleted['status']
  summary?: string
}

/** The sub-agents that a call reported as ended. */
export function endedAgents(item: Fields): readonly EndedAgent[] {
  const states = isFields(item.agentsStates) ? item.agentsStates : item.agents_states
  // Checked first, because every call comes here and few concern sub-agents.
  if (!isFields(states) || wakes(item.tool)) return NONE
  const agents = Object.keys(states)
  if (agents.length === 0) return NONE
  return only(
    agents.map((id) => endIn(id, states[id])),
    isEnd,
  )
}

const NONE: readonly EndedAgent[] = []

/** Calls that resume an agent: an end that they report is that of its last turn. */
const wakes = ruleTable<true>({
  sendInput: true,
  send_input: true,
  resumeAgent: true,
  resume_agent: true,
})

function endIn(id: string, state: unknown): EndedAgent | undefined {
  const status = isFields(state) ? endOf(state.status) : undefined
  if (!isFields(state) || !status) return undefined
  const summary = asText(state.message)
  return summary === undefined ? { id, status } : { id, status, summary }
}

function isEnd(end: unknown): end is EndedAgent {
  return end !== undefined
}

/** The threads that a call addresses. */
export function receiversOf(item: Fields): readonly string[] {
  return texts(item, 'receiverThreadIds') ?? texts(item, 'receiver_thread_ids') ?? NO_THREADS
}

const NO_THREADS: readonly string[] = []

const NO_AGENTS: readonly Omit<SubagentStarted, 'type'>[] = []

/** The agents that a call started. Each is a separate thread and continues when the turn of its parent ends. */
export function spawnedAgents(
  item: Fields,
  toolId: string,
  parent?: string,
): readonly Omit<SubagentStarted, 'type'>[] {
  if (item.tool !== 'spawn_agent' && item.tool !== 'spawnAgent') return NO_AGENTS
  const prompt = text(item, 'prompt')
  return receiversOf(item).map((id) => ({
    id,
    toolId,
    label: prompt?.split('\n', 1)[0] || 'sub-agent',
    background: true,
    ...compact({ prompt, model: text(item, 'model') || undefined, parent }),
  }))
}
