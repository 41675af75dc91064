import type { SubagentCompleted } from '../../model/events/work.ts'
import { type DeniedBy, decide, type Outcome, type ToolStatus } from '../../model/index.ts'
import type { Emitted, Exit, TurnVerdict } from '../agent.ts'
import type { Ledger } from './ledger.ts'
import { closeMessage } from './messages.ts'
import { withdrawRequest } from './requests.ts'
import { finishSubagent } from './subagents.ts'
import { finishTool } from './tools.ts'

/** Returns whether an item belongs to a background sub-agent, which outlives the turn that started it. */
function outlivesTurn(ledger: Ledger, parent: string | undefined): boolean {
  for (let id = parent; id !== undefined; ) {
    const subagent = ledger.subagents.get(id)
    if (!subagent) return false
    if (subagent.background) return true
    id = subagent.parent
  }
  return false
}

function anyOutlivesTurn(ledger: Ledger): boolean {
  for (const { background } of ledger.subagents.values()) if (background) return true
  return false
}

function settledStatus(refusedBy: DeniedBy | undefined, outcome: Outcome): ToolStatus {
  if (refusedBy) return 'denied'
  if (outcome === 'interrupted' || outcome === 'timeout') return 'cancelled'
  return outcome === 'completed' || outcome === 'denied' ? 'unknown' : 'error'
}

/**
 * Closes everything that is open in the ending turn, in this order: messages, requests, tools, sub-agents. Background
 * sub-agents and their items stay open unless `everything` is set.
 */
export function settle(ledger: Ledger, outcome: Outcome, everything = false): Emitted[] {
  // A denied call that has not started by now never will, unless it belongs to a sub-agent that continues.
  if (everything || !anyOutlivesTurn(ledger)) ledger.refusals = undefined
  const stays = (parent: string | undefined) => !everything && outlivesTurn(ledger, parent)
  const emitted: Emitted[] = []
  for (const [id, message] of ledger.messages) {
    if (!stays(message.parent)) emitted.push(...closeMessage(ledger, id, true))
  }
  const reason = everything ? 'process_ended' : outcome === 'interrupted' ? 'interrupted' : 'turn_ended'
  for (const [id, request] of ledger.requests) {
    if (!stays(request.asked.parent)) emitted.push(...withdrawRequest(ledger, id, reason))
  }
  for (const [id, tool] of ledger.tools) {
    if (stays(tool.parent)) continue
    const status = settledStatus(tool.refusedBy, outcome)
    const deniedBy = tool.refusedBy && { deniedBy: tool.refusedBy }
    emitted.push(...finishTool(ledger, id, { status, settled: true, ...deniedBy }))
  }
  for (const [id, subagent] of ledger.subagents) {
    if (!everything && (subagent.background || stays(subagent.parent))) continue
    const status = settledStatus(undefined, outcome)
    emitted.push(
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
  return emitted
}

/**
 * Settles the ending turn, and everything else if its process ended. Reports the usage and the verdict of the turn, with
 * the denials that settling found.
 */
export function settleTurn(
  ledger: Ledger,
  verdict: TurnVerdict,
  usageSource: 'agent' | 'computed',
  exit?: Exit,
): Emitted[] {
  const outcome = decide(verdict, exit?.cause ?? 'exit', exit && exitCodeOf(exit))
  const emitted = settle(ledger, outcome, exit !== undefined)
  verdict.denials = ledger.denials
  verdict.personDenials = ledger.personDenials
  const { usage } = verdict
  if (usage) emitted.push({ type: 'usage.reported', scope: 'turn', ...usage, source: usageSource })
  emitted.push(verdict)
  return emitted
}

/** A process that was killed by a signal has no exit code; that is not success. */
export function exitCodeOf({ code, signal }: Exit): number {
  return code ?? (signal === undefined ? 0 : 1)
}

/** Closes the open items of an ending sub-agent in the same order: messages, requests and tools. */
export function settleThread(ledger: Ledger, id: string, ended: SubagentCompleted['status']): Emitted[] {
  const emitted: Emitted[] = []
  for (const [messageId, message] of ledger.messages) {
    if (message.parent === id) emitted.push(...closeMessage(ledger, messageId, true))
  }
  for (const [requestId, request] of ledger.requests) {
    if (request.asked.parent === id) emitted.push(...withdrawRequest(ledger, requestId, 'turn_ended'))
  }
  for (const [toolId, tool] of ledger.tools) {
    if (tool.parent !== id) continue
    const by = tool.refusedBy
    const status = by ? 'denied' : ended === 'success' ? 'unknown' : ended
    emitted.push(...finishTool(ledger, toolId, { status, settled: true, ...(by && { deniedBy: by }) }))
  }
  return emitted
}
