import { marginOf, newCard, type TerminalView, turnTo, type ViewRules } from './view.ts'
import type { Style } from './wrap.ts'

interface Look {
  style: Style
  /** The marker of a main-thread message, in the first column. */
  mark: string
}

const speaking: Look = { style: (text) => text, mark: '  ' }

function thinking({ screen: { colors } }: TerminalView): Look {
  return { style: (text) => colors.dim(colors.italic(text)), mark: colors.dim('✻ ') }
}

interface ShownMessage {
  messageId: string
  text: string
  parent?: string | undefined
}

/** Shows only complete messages of sub-agents, because interleaved deltas are unreadable. */
function piece(
  view: TerminalView,
  { messageId, text, parent }: ShownMessage,
  { style, mark }: Look,
): string[] {
  if (parent !== undefined) return []
  view.openCard = undefined
  view.endsWithCall = false
  view.speaker = undefined
  const shown = view.streamed.get(messageId) ?? ''
  view.streamed.set(messageId, shown + text)
  return [view.screen.stream(marginOf(view, undefined), { messageId, shown, text }, style, mark)]
}

function whole(
  view: TerminalView,
  { messageId, text, parent }: ShownMessage,
  { style, mark }: Look,
): string[] {
  const { screen } = view
  const shown = view.streamed.get(messageId)
  view.streamed.delete(messageId)
  if (text === '') return []
  const margin = marginOf(view, parent)
  const speaker = turnTo(view, parent)
  // The complete text is authoritative: if it differs from its deltas, it is shown again in full.
  if (shown === undefined || !text.startsWith(shown)) {
    return [speaker || newCard(view), screen.prose(margin, text, style, parent === undefined ? mark : margin)]
  }
  const rest = { messageId, shown, text: text.slice(shown.length) }
  return [rest.text === '' ? '' : screen.stream(margin, rest, style, mark), screen.break()]
}

export const messageRules = {
  'text.delta': (view, message) => piece(view, message, speaking),
  'text.completed': (view, message) => whole(view, message, speaking),
  'thinking.delta': (view, message) => piece(view, message, thinking(view)),
  'thinking.completed': (view, message) => whole(view, message, thinking(view)),
  'message.discarded': (view, { messageId }) => {
    if (!view.streamed.delete(messageId)) return []
    const { screen } = view
    return [screen.line('  ', [screen.colors.dim, '(incomplete, will be repeated)'])]
  },
} satisfies Partial<ViewRules>
