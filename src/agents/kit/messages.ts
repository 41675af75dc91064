import type { Emitted } from '../agent.ts'
import { countUse, currentId, emittedId, idAfter, type Ledger, type LedgerMessage } from './ledger.ts'

/** Adds a delta to a message; stored, so that a message that is cut off can still be completed. */
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
    // Only the first delta of a message needs more than one lookup.
    id = currentId(ledger.messages, ledger.closedMessages, nativeId)
    open = ledger.messages.get(id)
  }
  if (!open) {
    open = { nativeId, kind, text: '', parent, half: undefined }
    ledger.messages.set(id, open)
  }
  open.text += text
  const piece = wholeCharacters(open, text)
  const type = kind === 'text' ? 'text.delta' : 'thinking.delta'
  const messageId = emittedId(ledger, id)
  return parent === undefined ? { type, messageId, text: piece } : { type, messageId, text: piece, parent }
}

/** Some agents cut their text inside a character: its first half is sent with the second, in the next delta. */
function wholeCharacters(message: LedgerMessage, text: string): string {
  const { half = '' } = message
  const joined = half + text
  const last = joined.charCodeAt(joined.length - 1)
  const isCut = last >= 0xd800 && last <= 0xdbff
  message.half = isCut ? joined.slice(-1) : undefined
  return isCut ? joined.slice(0, -1) : joined
}

interface MessageDetails {
  parent?: string | undefined
  partial?: boolean
  phase?: 'commentary' | 'final' | undefined
}

const NO_DETAILS: MessageDetails = {}

/** Completes a message, with or without earlier deltas. */
export function completeMessage(
  ledger: Ledger,
  kind: 'text' | 'thinking',
  nativeId: string,
  text: string,
  more: MessageDetails = NO_DETAILS,
): Emitted {
  const uses = countUse(ledger.closedMessages, nativeId)
  const id = ledger.messages.has(nativeId) ? nativeId : idAfter(nativeId, uses)
  ledger.messages.delete(id)
  const messageId = emittedId(ledger, id)
  const type = kind === 'text' ? 'text.completed' : 'thinking.completed'
  const { partial, phase, parent } = more
  // Most messages have none of these fields, and spreads are expensive.
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

/** Completes an open message with the text received, for agents that never report the end of a message. */
export function closeMessage(ledger: Ledger, nativeId: string, partial = false): Emitted[] {
  const open = ledger.messages.get(currentId(ledger.messages, ledger.closedMessages, nativeId))
  if (!open) return []
  return [completeMessage(ledger, open.kind, open.nativeId, open.text, { parent: open.parent, partial })]
}

/** Discards a partial message that the agent will repeat. Emits nothing if none of it was shown. */
export function discardMessage(
  ledger: Ledger,
  nativeId: string,
  reason: 'stream_broken' | 'refused' = 'stream_broken',
): Emitted[] {
  const id = currentId(ledger.messages, ledger.closedMessages, nativeId)
  if (!ledger.messages.delete(id)) return []
  countUse(ledger.closedMessages, nativeId)
  return [{ type: 'message.discarded', messageId: emittedId(ledger, id), reason }]
}

/** Discards a partial message of which only the tool input may have been shown. */
export function discardDraft(ledger: Ledger, nativeId: string): Emitted[] {
  const dropped = discardMessage(ledger, nativeId)
  if (dropped.length > 0) return dropped
  countUse(ledger.closedMessages, nativeId)
  return [{ type: 'message.discarded', messageId: emittedId(ledger, nativeId), reason: 'stream_broken' }]
}
