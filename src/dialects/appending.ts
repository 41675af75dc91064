/**
 * For dialects whose readers append what they are sent and can take nothing back. When the agent drops a half
 * message and repeats it, the reader has that half already: the repeat is swallowed as far as it is equal.
 */
interface Heard {
  /** All of the message so far. */
  text: string
  /** What the reader has of an earlier try at this message; undefined once the two have met. */
  shown: string | undefined
}

/** An increment of a message, or the whole of it. */
interface Piece {
  messageId: string
  text: string
  parent?: string | undefined
  /** Cut for good: it is not repeated. */
  partial?: boolean | undefined
}

/** The messages of one kind on the main thread; a sub-agent's have no place among them. */
export interface Appending {
  readonly open: Map<string, Heard>
  /** Texts of dropped messages that were not repeated yet, oldest first. */
  readonly dropped: string[]
}

export function newAppending(): Appending {
  return { open: new Map(), dropped: [] }
}

/** What to send of an increment; empty when the reader has it already. */
export function appendDelta(state: Appending, { messageId, text, parent }: Piece): string {
  if (parent !== undefined) return ''
  const heard = state.open.get(messageId) ?? begin(state, messageId)
  heard.text += text
  if (heard.shown === undefined) return text
  // Still inside what the reader has: whether it goes on the same way is not known yet.
  if (heard.shown.startsWith(heard.text)) return ''
  return meet(state, heard, heard.shown)
}

/** What to send of a whole message: the rest that no increment brought. */
export function appendWhole(state: Appending, { messageId, text, parent, partial }: Piece): string {
  if (parent !== undefined || (text === '' && !state.open.has(messageId))) return ''
  const heard = state.open.get(messageId) ?? begin(state, messageId)
  state.open.delete(messageId)
  const before = heard.text
  heard.text = text
  const { shown } = heard
  if (shown === undefined) return restOf(text, before) ?? onNewLine(text)
  // A repeat that was cut as well has no other end to wait for.
  const isShown = partial ? shown.startsWith(text) : shown.trim() === text.trim()
  return isShown && !text.startsWith(shown) ? '' : meet(state, heard, shown)
}

/** What is left of a whole text after its beginning; undefined when it begins otherwise. Some agents trim the whole. */
export function restOf(text: string, beginning: string): string | undefined {
  if (text.startsWith(beginning)) return text.slice(beginning.length)
  const all = text.trimStart()
  const sent = beginning.trimStart()
  if (all.startsWith(sent)) return all.slice(sent.length)
  return sent.startsWith(all.trimEnd()) ? '' : undefined
}

/** The agent dropped the message and will repeat it. */
export function appendAgain(state: Appending, messageId: string): void {
  const heard = state.open.get(messageId)
  if (!heard) return
  state.open.delete(messageId)
  if (heard.shown !== undefined) state.dropped.unshift(heard.shown)
  else if (heard.text !== '') state.dropped.push(heard.text)
}

function begin(state: Appending, messageId: string): Heard {
  const heard: Heard = { text: '', shown: state.dropped.shift() }
  state.open.set(messageId, heard)
  return heard
}

/** The repeat has caught up with what the reader has, or it turned out to be another text. */
function meet(state: Appending, heard: Heard, shown: string): string {
  heard.shown = undefined
  const rest = heard.text.slice(shown.length)
  // With another dropped text behind it, more of this one would appear in the wrong place.
  if (heard.text.startsWith(shown) && (rest === '' || state.dropped.length === 0)) return rest
  state.dropped.length = 0
  return onNewLine(heard.text)
}

function onNewLine(text: string): string {
  return text === '' ? '' : `\n${text}`
}
