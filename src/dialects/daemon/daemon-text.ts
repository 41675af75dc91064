import type { TextCompleted, TextDelta } from '../../model/events/message.ts'
import {
  type AppendOnlyText,
  appendAgain,
  appendDelta,
  appendWhole,
  newAppendOnlyText,
  restOf,
} from '../kit/append-only-text.ts'

/**
 * The main-thread text that the client of one stream has. Partials are appended, and the complete text replaces them. A
 * message can start in one stream and end in the next, which then gets only the rest.
 */
export interface ShownText {
  appending: AppendOnlyText
  /** The prefixes of open messages that an earlier stream has shown. */
  readonly earlier: Map<string, string>
}

export function newShownText(): ShownText {
  return { appending: newAppendOnlyText(), earlier: new Map() }
}

/** Returns the text to append; empty when the client already has it. */
export function showDelta(shown: ShownText, event: TextDelta): string {
  return appendDelta(shown.appending, event)
}

/** Returns the text that replaces the partials of this stream; empty when nothing is left to show. */
export function showWhole(shown: ShownText, event: TextCompleted): string {
  if (event.parent !== undefined) return ''
  const { messageId, text } = event
  // Updates the bookkeeping only: the client discards its accumulated partials.
  appendWhole(shown.appending, event)
  const earlier = shown.earlier.get(messageId) ?? ''
  return restOf(text, earlier) ?? text
}

/** Returns whether the partials of this stream and earlier ones contain the complete text. */
export function isWhole({ appending, earlier }: ShownText, { messageId, text }: TextCompleted): boolean {
  const { text: partials = '', shown } = appending.open.get(messageId) ?? {}
  return shown === undefined && text !== '' && (earlier.get(messageId) ?? '') + partials === text
}

/** Records that the agent discarded the message and will repeat it. */
export function showAgain(shown: ShownText, messageId: string): void {
  appendAgain(shown.appending, messageId)
}

/** Ends the stream while the turn continues: the next stream does not repeat the text that was shown. */
export function cutText(shown: ShownText): void {
  for (const [messageId, { text }] of shown.appending.open) {
    shown.earlier.set(messageId, (shown.earlier.get(messageId) ?? '') + text)
  }
  shown.appending = newAppendOnlyText()
}
