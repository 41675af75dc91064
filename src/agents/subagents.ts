import type { SubagentCompleted, SubagentStarted } from '../model/events/work.ts'
import type { Said } from './agent.ts'
import type { Ledger } from './ledger.ts'

export function startSubagent(ledger: Ledger, subagent: Omit<SubagentStarted, 'type'>): Said[] {
  if (ledger.subagents.has(subagent.id)) return []
  ledger.subagents.set(subagent.id, { background: subagent.background ?? false, parent: subagent.parent })
  return [{ type: 'subagent.started', ...subagent }]
}

export function finishSubagent(
  ledger: Ledger,
  id: string,
  end: Omit<SubagentCompleted, 'type' | 'id'>,
): Said[] {
  return ledger.subagents.delete(id) ? [{ type: 'subagent.completed', id, ...end }] : []
}
