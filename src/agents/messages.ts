import type { Emitted } from './agent.ts'
import { currentId, idAfter, type Ledger, saidAs } from './ledger.ts'

/** An increment of a message; remembered, so that a cut message can still be completed. */
export function addDelta(
  ledger: Ledger,
  kind: 'text' | 'thinking',
  nativeId: string,
  text: string,
  parent?: string,
): Emitted {
  let id = nativeId
  let open = ledger.messages.get(nativeId)
  if (!open) {
    // Only the first piece of a message needs more than one look.
    id = currentId(ledger.messages, ledger.closedMessages, nativeId)
    open = ledger.messages.get(id)
  }
  if (open) open.text += text
  else ledger.messages.set(id, { nativeId, kind, text, parent })
  const type = kind === 'text' ? 'text.delta' : 'thinking.delta'
  const messageId = saidAs(ledger, id)
  return parent === undefined ? { type, messageId, text } : { type, messageId, text, parent }
}

interface MessageDetails {
  parent?: string | undefined
  partial?: boolean
  phase?: 'commentary' | 'final' | undefined
}

const NO_DETAILS: MessageDetails = {}

/** The whole message, whether or not deltas came before it. */
export function completeMessage(
  ledger: Ledger,
  kind: 'text' | 'thinking',
  nativeId: string,
  text: string,
  more: MessageDetails = NO_DETAILS,
): Emitted {
  const uses = ledger.closedMessages.add(nativeId)
  const id = ledger.messages.has(nativeId) ? nativeId : idAfter(nativeId, uses)
  ledger.messages.delete(id)
  const messageId = saidAs(ledger, id)
  const type = kind === 'text' ? 'text.completed' : 'thinking.completed'
  const { partial, phase, parent } = more
  // Most have none of them, and spreading nothing costs more than all the rest.
  if (!partial && !phase && parent === undefined) return { type, messageId, text }
  return {
    type,
    messageId,
    text,
    ...(partial && { partial: true }),
    ...(phase && { phase }),
    ...(parent !== undefined && { parent }),
  }
}

/** Closes an open message with what was heard of it, for agents that never say "end of message". */
export function closeMessage(ledger: Ledger, nativeId: string, partial = false): Emitted[] {
  const open = ledger.messages.get(currentId(ledger.messages, ledger.closedMessages, nativeId))
  if (!open) return []
  return [completeMessage(ledger, open.kind, open.nativeId, open.text, { parent: open.parent, partial })]
}

/** Drops a half message that the agent is going to repeat. Nothing when nothing of it was shown. */
export function discardMessage(
  ledger: Ledger,
  nativeId: string,
  reason: 'stream_broken' | 'refused' = 'stream_broken',
): Emitted[] {
  const id = currentId(ledger.messages, ledger.closedMessages, nativeId)
  if (!ledger.messages.delete(id)) return []
  ledger.closedMessages.add(nativeId)
  return [{ type: 'message.discarded', messageId: saidAs(ledger, id), reason }]
}

/** Drops a half message of which the draft of a call may be all that was shown. */
export function discardDraft(ledger: Ledger, nativeId: string): Emitted[] {
  const dropped = discardMessage(ledger, nativeId)
  if (dropped.length > 0) return dropped
  ledger.closedMessages.add(nativeId)
  return [{ type: 'message.discarded', messageId: saidAs(ledger, nativeId), reason: 'stream_broken' }]
}
