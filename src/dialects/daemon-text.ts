import type { TextCompleted, TextDelta } from '../model/events/message.ts'
import { type Appending, appendAgain, appendDelta, appendWhole, newAppending, restOf } from './appending.ts'

/**
 * What the reader of one stream has of the main thread's text. Partials are appended, and a whole text replaces them;
 * a message can begin in one stream and end in the next, and then the next has only the rest of it.
 */
export interface ShownText {
  appending: Appending
  /** The beginnings of open messages that an earlier stream has shown. */
  readonly earlier: Map<string, string>
}

export function newShownText(): ShownText {
  return { appending: newAppending(), earlier: new Map() }
}

/** What to append; empty when the reader has it already. */
export function showDelta(shown: ShownText, event: TextDelta): string {
  return appendDelta(shown.appending, event)
}

/** What replaces the partials of this stream; empty when there is nothing left to say. */
export function showWhole(shown: ShownText, event: TextCompleted): string {
  if (event.parent !== undefined) return ''
  const { messageId, text } = event
  // The books alone: the reader drops what it has gathered.
  appendWhole(shown.appending, event)
  const earlier = shown.earlier.get(messageId) ?? ''
  return restOf(text, earlier) ?? text
}

/** Whether the partials of this stream, and of earlier ones, say all of this text. */
export function isWhole({ appending, earlier }: ShownText, { messageId, text }: TextCompleted): boolean {
  const { text: partials = '', shown } = appending.open.get(messageId) ?? {}
  return shown === undefined && text !== '' && (earlier.get(messageId) ?? '') + partials === text
}

/** The agent dropped the message and will repeat it. */
export function showAgain(shown: ShownText, messageId: string): void {
  appendAgain(shown.appending, messageId)
}

/** The stream ends and the turn goes on: the next reader has nothing, but what was shown is not said again. */
export function cutText(shown: ShownText): void {
  for (const [messageId, { text }] of shown.appending.open) {
    shown.earlier.set(messageId, (shown.earlier.get(messageId) ?? '') + text)
  }
  shown.appending = newAppending()
}
