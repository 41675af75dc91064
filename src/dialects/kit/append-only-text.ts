/**
 * For dialects whose clients append text and cannot retract it. When the agent discards a partial message and repeats
 * it, the client already has that part: the repeat is suppressed as far as it is identical.
 */
interface AppendedMessage {
  /** The complete text of the message so far. */
  text: string
  /** The text that the client has from an earlier attempt at this message; undefined once the two were reconciled. */
  shown: string | undefined
}

/** A delta of a message, or the complete message. */
interface TextPiece {
  messageId: string
  text: string
  parent?: string | undefined
  /** Set when the message was cut off for good and will not be repeated. */
  partial?: boolean | undefined
}

/** The messages of one kind on the main thread. Messages of sub-agents are excluded. */
export interface AppendOnlyText {
  readonly open: Map<string, AppendedMessage>
  /** Texts of discarded messages that were not repeated yet, oldest first. */
  readonly dropped: string[]
}

export function newAppendOnlyText(): AppendOnlyText {
  return { open: new Map(), dropped: [] }
}

/** Returns the part of a delta to send; empty when the client already has it. */
export function appendDelta(state: AppendOnlyText, { messageId, text, parent }: TextPiece): string {
  if (parent !== undefined) return ''
  const message = state.open.get(messageId) ?? begin(state, messageId)
  message.text += text
  if (message.shown === undefined) return text
  // Still within the text that the client has: whether the continuation matches is not known yet.
  if (message.shown.startsWith(message.text)) return ''
  return reconcile(state, message, message.shown)
}

/** Returns the part of a complete message that no delta delivered. */
export function appendWhole(state: AppendOnlyText, { messageId, text, parent, partial }: TextPiece): string {
  if (parent !== undefined || (text === '' && !state.open.has(messageId))) return ''
  const message = state.open.get(messageId) ?? begin(state, messageId)
  state.open.delete(messageId)
  const before = message.text
  message.text = text
  const { shown } = message
  if (shown === undefined) return restOf(text, before) ?? onNewLine(text)
  // A repeat that was cut off as well has no further text to wait for.
  const isShown = partial ? shown.startsWith(text) : shown.trim() === text.trim()
  return isShown && !text.startsWith(shown) ? '' : reconcile(state, message, shown)
}

/**
 * Returns the rest of `text` after `beginning`; undefined when it starts differently. Some agents trim the complete
 * text.
 */
export function restOf(text: string, beginning: string): string | undefined {
  if (text.startsWith(beginning)) return text.slice(beginning.length)
  const all = text.trimStart()
  const sent = beginning.trimStart()
  if (all.startsWith(sent)) return all.slice(sent.length)
  return sent.startsWith(all.trimEnd()) ? '' : undefined
}

/** Records that the agent discarded the message and will repeat it. */
export function appendAgain(state: AppendOnlyText, messageId: string): void {
  const message = state.open.get(messageId)
  if (!message) return
  state.open.delete(messageId)
  if (message.shown !== undefined) state.dropped.unshift(message.shown)
  else if (message.text !== '') state.dropped.push(message.text)
}

function begin(state: AppendOnlyText, messageId: string): AppendedMessage {
  const message: AppendedMessage = { text: '', shown: state.dropped.shift() }
  state.open.set(messageId, message)
  return message
}

/** Reconciles a repeat with the text that the client has: the repeat caught up with it or turned out to differ. */
function reconcile(state: AppendOnlyText, message: AppendedMessage, shown: string): string {
  message.shown = undefined
  const rest = message.text.slice(shown.length)
  // With another discarded text after it, more of this one would appear at the wrong position.
  if (message.text.startsWith(shown) && (rest === '' || state.dropped.length === 0)) return rest
  state.dropped.length = 0
  return onNewLine(message.text)
}

function onNewLine(text: string): string {
  return text === '' ? '' : `\n${text}`
}
