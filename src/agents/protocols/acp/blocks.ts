import type { Said } from '../../agent.ts'
import { addDelta, closeMessage, discardMessage } from '../../ledger.ts'
import type { Block, State, Turn } from './state.ts'

/** One more piece of text: of the open block, of a new one, or of one that may be repeating it. */
export function addText(
  state: State,
  turn: Turn,
  kind: Block['kind'],
  nativeId: string | undefined,
  parent: string | undefined,
  piece: string,
): Said[] {
  const { block, echo } = turn
  if (block === undefined || block.kind !== kind || block.parent !== parent) {
    return [...closeBlock(state, turn), openBlock(state, turn, kind, nativeId, parent, piece)]
  }
  if (echo === undefined && block.nativeId === nativeId) {
    return [addDelta(state.ledger, kind, block.messageId, piece, parent)]
  }
  if (echo !== undefined && echo.nativeId === nativeId) {
    echo.text += piece
    return settleEcho(state, turn, block, echo)
  }
  // A new message right after another may be the same one again: a stream that broke off is repeated unmarked.
  if (echo === undefined && block.nativeId !== undefined && nativeId !== undefined && !block.sealed) {
    turn.echo = { nativeId, text: piece }
    return settleEcho(state, turn, block, turn.echo)
  }
  return [...closeBlock(state, turn), openBlock(state, turn, kind, nativeId, parent, piece)]
}

/** Said as soon as it is decided: either the text goes beyond what was shown, or it is another one. */
function settleEcho(
  state: State,
  turn: Turn,
  block: Block,
  echo: { nativeId: string; text: string },
): Said[] {
  const shown = state.ledger.messages.get(block.messageId)?.text ?? ''
  const repeats = echo.text.startsWith(shown)
  if (!repeats && shown.startsWith(echo.text)) return []
  turn.echo = undefined
  const before = repeats ? discardMessage(state.ledger, block.messageId) : complete(state, turn, block)
  return [...before, openBlock(state, turn, block.kind, echo.nativeId, block.parent, echo.text)]
}

function openBlock(
  state: State,
  turn: Turn,
  kind: Block['kind'],
  nativeId: string | undefined,
  parent: string | undefined,
  piece: string,
): Said {
  const n = ++state.blockCount
  // The count runs through, so that an id that returns in a later turn is still a new message.
  const messageId = nativeId === undefined ? `e${state.start.epoch}.m${n}` : `${nativeId}:${n}`
  turn.block = { kind, messageId, nativeId, parent, sealed: false }
  return addDelta(state.ledger, kind, messageId, piece, parent)
}

/** Something else has begun, so the open text is whole. */
export function closeBlock(state: State, turn: Turn): Said[] {
  const said = [...releaseAside(state, turn), ...releaseEcho(state, turn)]
  if (turn.block) said.push(...complete(state, turn, turn.block))
  turn.block = undefined
  return said
}

function complete(state: State, turn: Turn, { kind, messageId, parent }: Block): Said[] {
  const whole = state.ledger.messages.get(messageId)?.text
  if (kind === 'text' && parent === undefined) turn.answer = whole
  return closeMessage(state.ledger, messageId)
}

/** A repetition that was cut short is not known to be one: both texts are shown. */
export function releaseEcho(state: State, turn: Turn): Said[] {
  const { block, echo } = turn
  if (!block || !echo) return []
  turn.echo = undefined
  return [
    ...complete(state, turn, block),
    openBlock(state, turn, block.kind, echo.nativeId, block.parent, echo.text),
  ]
}

/** The turn goes on, so what looked like its failure was the model speaking. */
export function releaseAside(state: State, turn: Turn): Said[] {
  const { aside } = turn
  if (!aside) return []
  turn.aside = undefined
  return addText(state, turn, 'text', aside.nativeId, undefined, aside.text)
}

/** The agent is about to repeat what it was saying. */
export function discardBlock(state: State, turn: Turn): Said[] {
  const said = releaseEcho(state, turn)
  if (turn.block) said.push(...discardMessage(state.ledger, turn.block.messageId))
  turn.block = undefined
  return said
}
