import type { DeniedBy, Outcome, ToolStatus } from '../model/index.ts'
import type { Said } from './agent.ts'
import { closeMessage, finishSubagent, finishTool, type Ledger, withdrawRequest } from './ledger.ts'

/** Does this belong to a background sub-agent, which outlives the turn that started it? */
function outlivesTurn(ledger: Ledger, parent: string | undefined): boolean {
  for (let id = parent; id !== undefined; ) {
    const subagent = ledger.subagents.get(id)
    if (!subagent) return false
    if (subagent.background) return true
    id = subagent.parent
  }
  return false
}

function settledStatus(refusedBy: DeniedBy | undefined, outcome: Outcome): ToolStatus {
  if (refusedBy) return 'denied'
  if (outcome === 'interrupted' || outcome === 'timeout') return 'cancelled'
  return outcome === 'completed' || outcome === 'denied' ? 'unknown' : 'error'
}

/**
 * Closes, in this order, everything of the ending turn that is open: messages, requests, tools, sub-agents.
 * Background sub-agents and what is theirs stay open unless `everything` goes.
 */
export function settle(ledger: Ledger, outcome: Outcome, everything = false): Said[] {
  const stays = (parent: string | undefined) => !everything && outlivesTurn(ledger, parent)
  const said: Said[] = []
  for (const [id, message] of ledger.messages) {
    if (!stays(message.parent)) said.push(...closeMessage(ledger, id, true))
  }
  const reason = everything ? 'process_ended' : outcome === 'interrupted' ? 'interrupted' : 'turn_ended'
  for (const [id, request] of ledger.requests) {
    if (!stays(request.parent)) said.push(...withdrawRequest(ledger, id, reason))
  }
  for (const [id, tool] of ledger.tools) {
    if (stays(tool.parent)) continue
    const status = settledStatus(tool.refusedBy, outcome)
    const deniedBy = tool.refusedBy && { deniedBy: tool.refusedBy }
    said.push(...finishTool(ledger, id, { status, settled: true, ...deniedBy }))
  }
  for (const [id, subagent] of ledger.subagents) {
    if (!everything && (subagent.background || stays(subagent.parent))) continue
    const status = settledStatus(undefined, outcome)
    said.push(
      ...finishSubagent(ledger, id, {
        status:
          status === 'unknown'
            ? 'success'
            : status === 'cancelled' || subagent.background
              ? 'cancelled'
              : 'error',
      }),
    )
  }
  return said
}
