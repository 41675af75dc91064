import type { Decoded, Emitted } from '../../agent.ts'
import { text } from '../../kit/fields.ts'
import { addDelta } from '../../kit/messages.ts'
import type { HeldFrame, ServeState } from './state.ts'

export function hold(shelf: Map<string, HeldFrame[]>, key: string, held: HeldFrame): void {
  const waiting = shelf.get(key)
  if (waiting) waiting.push(held)
  else shelf.set(key, [held])
}

/** The role is known now: decodes the buffered parts as if they arrived now. */
export function release(state: ServeState, messageId: string, read: (held: HeldFrame) => Decoded): Emitted[] {
  const waiting = state.heldParts.get(messageId)
  if (!waiting) return []
  state.heldParts.delete(messageId)
  return waiting.flatMap((held) => read(held).emitted)
}

/** The type of the part is known now. */
export function releaseDeltas(state: ServeState, partId: string): HeldFrame[] {
  const waiting = state.heldDeltas.get(partId) ?? []
  state.heldDeltas.delete(partId)
  return waiting
}

/**
 * Flushes frames that were never explained before the turn ended: text of an answer is emitted as text, the rest is
 * kept whole.
 */
export function abandonHeld(state: ServeState): Emitted[] {
  const emitted: Emitted[] = []
  const keep = (nativeType: string, held: HeldFrame) =>
    emitted.push({ type: 'native.unmapped', nativeType, frame: held.raw })
  for (const waiting of state.heldParts.values()) {
    for (const held of waiting) keep('message.part.updated', held)
  }
  for (const [partId, waiting] of state.heldDeltas) {
    for (const held of waiting) {
      const message = state.messages.get(held.messageId)
      const piece = text(held.properties, 'delta')
      if (message?.role !== 'assistant' || piece === undefined) keep('message.part.delta', held)
      else emitted.push(addDelta(state.ledger, 'text', partId, piece, message.thread.speaker))
    }
  }
  state.heldParts.clear()
  state.heldDeltas.clear()
  return emitted
}
