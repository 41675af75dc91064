import type { SubagentCompleted, SubagentStarted } from '../../../model/events/work.ts'
import { addUsage, type Usage } from '../../../model/index.ts'
import type { Said } from '../../agent.ts'
import { compact, type Fields, text } from '../../fields.ts'
import {
  closeMessage,
  discardMessage,
  finishSubagent,
  finishTool,
  startSubagent,
  withdrawRequest,
} from '../../ledger.ts'
import type { Child, State } from './state.ts'

/** The sub-agent whose thread a frame belongs to; undefined for the conversation itself. */
export function parentOf(state: State, params: Fields): string | undefined {
  const threadId = text(params, 'threadId')
  if (threadId === undefined || threadId === state.threadId) return undefined
  // Where the handshake was not heard, the first thread that speaks is the conversation.
  if (state.threadId === undefined) {
    state.threadId = threadId
    return undefined
  }
  return threadId
}

/** Codex tells of a sub-agent by its own activity, by the call that made it, or not at all. */
export function startChild(state: State, child: Omit<SubagentStarted, 'type' | 'background'>): Said[] {
  // A thread of its own: it goes on when the turn that started it ends.
  const said = startSubagent(state.ledger, { ...child, background: true })
  if (said.length > 0) state.children.set(child.id, { usage: undefined, answer: undefined })
  return said
}

/** A frame of a thread that nobody announced still has an author. */
export function childOf(state: State, threadId: string): { child: Child; said: Said[] } {
  const said = startChild(state, { id: threadId, label: 'sub-agent' })
  const child = state.children.get(threadId) ?? { usage: undefined, answer: undefined }
  state.children.set(threadId, child)
  return { child, said }
}

export function countUsage(of: { usage: Usage | undefined }, usage: Usage): void {
  of.usage = of.usage ? addUsage(of.usage, usage) : usage
}

/** Ends a sub-agent and whatever it left open; nothing when it has ended already. */
export function endChild(
  state: State,
  id: string,
  end: Pick<SubagentCompleted, 'status' | 'durationMs'>,
): Said[] {
  if (!state.ledger.subagents.has(id)) return []
  const child = state.children.get(id)
  state.children.delete(id)
  const said = settleThread(state, id, end.status)
  if (child?.usage) {
    said.push({
      type: 'usage.reported',
      scope: 'subagent',
      subagentId: id,
      ...child.usage,
      source: 'computed',
    })
  }
  const told = compact({ summary: child?.answer, usage: child?.usage })
  return [...said, ...finishSubagent(state.ledger, id, { ...end, ...told })]
}

function settleThread({ ledger }: State, id: string, ended: SubagentCompleted['status']): Said[] {
  const said: Said[] = []
  for (const message of ledger.messages.values()) {
    if (message.parent === id) said.push(...closeMessage(ledger, message.nativeId, true))
  }
  for (const [requestId, request] of ledger.requests) {
    if (request.parent === id) said.push(...withdrawRequest(ledger, requestId, 'turn_ended'))
  }
  for (const tool of ledger.tools.values()) {
    if (tool.parent !== id) continue
    const by = tool.refusedBy
    const status = by ? 'denied' : ended === 'success' ? 'unknown' : ended
    said.push(...finishTool(ledger, tool.nativeId, { status, settled: true, ...(by && { deniedBy: by }) }))
  }
  return said
}

/** The half messages of a thread whose stream broke: they will come again under new ids. */
export function discardHalves({ ledger }: State, parent: string | undefined): Said[] {
  const said: Said[] = []
  for (const message of ledger.messages.values()) {
    if (message.parent === parent) said.push(...discardMessage(ledger, message.nativeId))
  }
  return said
}

/** The messages of a thread that were cut and will not come again. */
export function cutHalves({ ledger }: State, parent: string | undefined): Said[] {
  const said: Said[] = []
  for (const message of ledger.messages.values()) {
    if (message.parent === parent) said.push(...closeMessage(ledger, message.nativeId, true))
  }
  return said
}
