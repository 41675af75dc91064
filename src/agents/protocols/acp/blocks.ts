import type { Emitted } from '../../agent.ts'
import { addDelta, closeMessage, discardMessage } from '../../kit/messages.ts'
import type { AcpBlock, AcpState, AcpThread, Echo } from './state.ts'

/** Text of a message as it arrives. */
interface BlockPiece extends Pick<AcpBlock, 'kind' | 'nativeId' | 'parent'> {
  text: string
}

/** Adds text to the open block, to a new one, or to one that may repeat the open block. */
export function addText(state: AcpState, thread: AcpThread, piece: BlockPiece): Emitted[] {
  const { block, echo } = thread
  const { kind, nativeId, parent, text } = piece
  if (block === undefined || block.parent !== parent) return nextBlock(state, thread, piece)
  if (echo === undefined && block.kind === kind && block.nativeId === nativeId)
    return [addDelta(state.ledger, kind, block.messageId, text, parent)]
  if (nativeId === undefined || !mayRepeat(thread, block, kind, nativeId))
    return nextBlock(state, thread, piece)
  thread.echo ??= { nativeId, thought: '', text: '' }
  if (kind === block.kind) thread.echo.text += text
  else thread.echo.thought += text
  return settleEcho(state, thread, block, thread.echo)
}

/**
 * A new message right after another may be the same one: a broken stream is repeated without a mark. A message with
 * thinking before its text repeats the thinking too.
 */
function mayRepeat({ echo }: AcpThread, block: AcpBlock, kind: AcpBlock['kind'], nativeId: string): boolean {
  if (echo && echo.nativeId !== nativeId) return false
  if (block.sealed || block.nativeId === undefined || block.nativeId === nativeId) return false
  if (kind === block.kind) return true
  return kind === 'thinking' && block.thought !== undefined && (echo === undefined || echo.text === '')
}

/** Emitted as soon as it is decided: the text either continues beyond the shown one, or it differs. */
function settleEcho(state: AcpState, thread: AcpThread, block: AcpBlock, echo: Echo): Emitted[] {
  const { thought, text } = echo
  const before = block.thought ?? ''
  if (text === '' && before.startsWith(thought)) return []
  const shown = state.ledger.messages.get(block.messageId)?.text ?? ''
  const alike = thought === '' || thought === before
  if (alike && !text.startsWith(shown) && shown.startsWith(text)) return []
  if (!alike || !text.startsWith(shown)) return releaseEcho(state, thread)
  thread.echo = undefined
  // The repeated thinking was already emitted.
  const emitted = discardMessage(state.ledger, block.messageId)
  const { kind, parent } = block
  emitted.push(openBlock(state, thread, { kind, nativeId: echo.nativeId, parent, text }, block.thought))
  return emitted
}

function nextBlock(state: AcpState, thread: AcpThread, piece: BlockPiece): Emitted[] {
  const emitted = [...releaseAside(state, thread), ...releaseEcho(state, thread)]
  emitted.push(...follow(state, thread, piece))
  return emitted
}

/** Opens a block after the open one, if any; keeps a message's thinking for the text that follows it. */
function follow(state: AcpState, thread: AcpThread, piece: BlockPiece): Emitted[] {
  const { block } = thread
  const { kind, nativeId, parent } = piece
  const thinks = kind === 'text' && block?.kind === 'thinking' && block.parent === parent
  const same = thinks && nativeId !== undefined && block.nativeId === nativeId
  const thought = same ? state.ledger.messages.get(block.messageId)?.text : undefined
  const emitted = block ? complete(state, thread, block) : []
  emitted.push(openBlock(state, thread, piece, thought))
  return emitted
}

function openBlock(
  state: AcpState,
  thread: AcpThread,
  { kind, nativeId, parent, text }: BlockPiece,
  thought?: string,
): Emitted {
  const n = ++state.blockCount
  // The count never resets, so a message id that is reused in a later turn is still a new message.
  const messageId = nativeId === undefined ? `e${state.start.epoch}.m${n}` : `${nativeId}:${n}`
  thread.block = { kind, messageId, nativeId, parent, thought, sealed: false }
  return addDelta(state.ledger, kind, messageId, text, parent)
}

/** Another item has started, so the open text is complete. */
export function closeBlock(state: AcpState, thread: AcpThread): Emitted[] {
  const emitted = [...releaseAside(state, thread), ...releaseEcho(state, thread)]
  if (thread.block) emitted.push(...complete(state, thread, thread.block))
  thread.block = undefined
  return emitted
}

function complete(state: AcpState, thread: AcpThread, { kind, messageId, parent }: AcpBlock): Emitted[] {
  const whole = state.ledger.messages.get(messageId)?.text
  if (kind === 'text' && parent === thread.subagent) thread.answer = whole
  return closeMessage(state.ledger, messageId)
}

/** A partial repetition is not certain to be one: both texts are emitted. */
export function releaseEcho(state: AcpState, thread: AcpThread): Emitted[] {
  const { block, echo } = thread
  if (!block || !echo) return []
  thread.echo = undefined
  const { nativeId, thought, text } = echo
  const { kind, parent } = block
  const emitted: Emitted[] = []
  if (thought !== '')
    emitted.push(...follow(state, thread, { kind: 'thinking', nativeId, parent, text: thought }))
  if (text !== '') emitted.push(...follow(state, thread, { kind, nativeId, parent, text }))
  return emitted
}

/** The turn continues, so the apparent failure was model output. */
export function releaseAside(state: AcpState, thread: AcpThread): Emitted[] {
  const { aside } = thread
  if (!aside) return []
  thread.aside = undefined
  const { nativeId, text } = aside
  return addText(state, thread, { kind: 'text', nativeId, parent: undefined, text })
}

/** The agent is about to repeat the open message. */
export function discardBlock(state: AcpState, thread: AcpThread): Emitted[] {
  const emitted = releaseEcho(state, thread)
  if (thread.block) emitted.push(...discardMessage(state.ledger, thread.block.messageId))
  thread.block = undefined
  return emitted
}
