import type { Emitted } from '../../agent.ts'
import { addDelta, closeMessage, discardMessage } from '../../messages.ts'
import type { Block, Echo, State, Turn } from './state.ts'

/** Adds text to the open block, to a new one, or to one that may repeat the open block. */
export function addText(
  state: State,
  turn: Turn,
  kind: Block['kind'],
  nativeId: string | undefined,
  parent: string | undefined,
  piece: string,
): Emitted[] {
  const { block, echo } = turn
  if (block === undefined || block.parent !== parent) {
    return nextBlock(state, turn, kind, nativeId, parent, piece)
  }
  if (echo === undefined && block.kind === kind && block.nativeId === nativeId) {
    return [addDelta(state.ledger, kind, block.messageId, piece, parent)]
  }
  if (nativeId === undefined || !mayRepeat(turn, block, kind, nativeId)) {
    return nextBlock(state, turn, kind, nativeId, parent, piece)
  }
  turn.echo ??= { nativeId, thought: '', text: '' }
  if (kind === block.kind) turn.echo.text += piece
  else turn.echo.thought += piece
  return settleEcho(state, turn, block, turn.echo)
}

/**
 * A new message right after another may be the same one: a broken stream is repeated without a mark. A message with
 * thinking before its text repeats the thinking too.
 */
function mayRepeat({ echo }: Turn, block: Block, kind: Block['kind'], nativeId: string): boolean {
  if (echo && echo.nativeId !== nativeId) return false
  if (block.sealed || block.nativeId === undefined || block.nativeId === nativeId) return false
  if (kind === block.kind) return true
  return kind === 'thinking' && block.thought !== undefined && (echo === undefined || echo.text === '')
}

/** Emitted as soon as it is decided: the text either continues beyond the shown one, or it differs. */
function settleEcho(state: State, turn: Turn, block: Block, echo: Echo): Emitted[] {
  const { thought, text } = echo
  const before = block.thought ?? ''
  if (text === '' && before.startsWith(thought)) return []
  const shown = state.ledger.messages.get(block.messageId)?.text ?? ''
  const alike = thought === '' || thought === before
  if (alike && !text.startsWith(shown) && shown.startsWith(text)) return []
  if (!alike || !text.startsWith(shown)) return releaseEcho(state, turn)
  turn.echo = undefined
  // The repeated thinking was already emitted.
  const emitted = discardMessage(state.ledger, block.messageId)
  emitted.push(openBlock(state, turn, block.kind, echo.nativeId, block.parent, text, block.thought))
  return emitted
}

function nextBlock(
  state: State,
  turn: Turn,
  kind: Block['kind'],
  nativeId: string | undefined,
  parent: string | undefined,
  piece: string,
): Emitted[] {
  const emitted = [...releaseAside(state, turn), ...releaseEcho(state, turn)]
  emitted.push(...follow(state, turn, kind, nativeId, parent, piece))
  return emitted
}

/** Opens a block after the open one, if any; keeps a message's thinking for the text that follows it. */
function follow(
  state: State,
  turn: Turn,
  kind: Block['kind'],
  nativeId: string | undefined,
  parent: string | undefined,
  piece: string,
): Emitted[] {
  const { block } = turn
  const thinks = kind === 'text' && block?.kind === 'thinking' && block.parent === parent
  const same = thinks && nativeId !== undefined && block.nativeId === nativeId
  const thought = same ? state.ledger.messages.get(block.messageId)?.text : undefined
  const emitted = block ? complete(state, turn, block) : []
  emitted.push(openBlock(state, turn, kind, nativeId, parent, piece, thought))
  return emitted
}

function openBlock(
  state: State,
  turn: Turn,
  kind: Block['kind'],
  nativeId: string | undefined,
  parent: string | undefined,
  piece: string,
  thought?: string,
): Emitted {
  const n = ++state.blockCount
  // The count never resets, so a message id that is reused in a later turn is still a new message.
  const messageId = nativeId === undefined ? `e${state.start.epoch}.m${n}` : `${nativeId}:${n}`
  turn.block = { kind, messageId, nativeId, parent, thought, sealed: false }
  return addDelta(state.ledger, kind, messageId, piece, parent)
}

/** Another item has started, so the open text is complete. */
export function closeBlock(state: State, turn: Turn): Emitted[] {
  const emitted = [...releaseAside(state, turn), ...releaseEcho(state, turn)]
  if (turn.block) emitted.push(...complete(state, turn, turn.block))
  turn.block = undefined
  return emitted
}

function complete(state: State, turn: Turn, { kind, messageId, parent }: Block): Emitted[] {
  const whole = state.ledger.messages.get(messageId)?.text
  if (kind === 'text' && parent === undefined) turn.answer = whole
  return closeMessage(state.ledger, messageId)
}

/** A partial repetition is not certain to be one: both texts are emitted. */
export function releaseEcho(state: State, turn: Turn): Emitted[] {
  const { block, echo } = turn
  if (!block || !echo) return []
  turn.echo = undefined
  const { nativeId, thought, text } = echo
  const { kind, parent } = block
  const emitted: Emitted[] = []
  if (thought !== '') emitted.push(...follow(state, turn, 'thinking', nativeId, parent, thought))
  if (text !== '') emitted.push(...follow(state, turn, kind, nativeId, parent, text))
  return emitted
}

/** The turn continues, so the apparent failure was model output. */
export function releaseAside(state: State, turn: Turn): Emitted[] {
  const { aside } = turn
  if (!aside) return []
  turn.aside = undefined
  return addText(state, turn, 'text', aside.nativeId, undefined, aside.text)
}

/** The agent is about to repeat the open message. */
export function discardBlock(state: State, turn: Turn): Emitted[] {
  const emitted = releaseEcho(state, turn)
  if (turn.block) emitted.push(...discardMessage(state.ledger, turn.block.messageId))
  turn.block = undefined
  return emitted
}
