import type { SubagentCompleted, SubagentStarted } from '../../model/events/work.ts'
import type { Emitted } from '../agent.ts'
import type { Ledger } from './ledger.ts'

export function startSubagent(ledger: Ledger, subagent: Omit<SubagentStarted, 'type'>): Emitted[] {
  if (ledger.subagents.has(subagent.id)) return []
  ledger.subagents.set(subagent.id, { background: subagent.background ?? false, parent: subagent.parent })
  return [{ type: 'subagent.started', ...subagent }]
}

export function finishSubagent(
  ledger: Ledger,
  id: string,
  end: Omit<SubagentCompleted, 'type' | 'id'>,
): Emitted[] {
  return ledger.subagents.delete(id) ? [{ type: 'subagent.completed', id, ...end }] : []
}
