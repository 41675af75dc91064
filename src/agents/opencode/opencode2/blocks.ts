import type { Emitted } from '../../agent.ts'
import { count, type Fields, text } from '../../kit/fields.ts'
import { currentId } from '../../kit/ledger.ts'
import { addDelta, completeMessage, discardMessage } from '../../kit/messages.ts'
import { announce } from '../threads.ts'
import { startCall } from './calls.ts'
import type { OpencodeState } from './state.ts'
import type { EndedBlock, Thread } from './thread.ts'

export type BlockKind = EndedBlock['kind']

const LETTERS: Readonly<Record<BlockKind, string>> = { text: 't', thinking: 'r' }

/** Text and reasoning are numbered separately within an answer. */
export function blockId(kind: BlockKind, data: Fields): string {
  return `${text(data, 'assistantMessageID') ?? ''}:${LETTERS[kind]}${count(data, 'ordinal') ?? 0}`
}

export function blockStarted(kind: BlockKind, thread: Thread, data: Fields): Emitted[] {
  thread.blocks.add(blockId(kind, data))
  return []
}

export function blockDelta(state: OpencodeState, kind: BlockKind, thread: Thread, data: Fields): Emitted[] {
  const piece = text(data, 'delta') ?? ''
  if (piece === '') return []
  const id = blockId(kind, data)
  thread.blocks.add(id)
  return [...announce(state, thread), addDelta(state.ledger, kind, id, piece, thread.speaker)]
}

/**
 * The server ends a block with its whole text. An interrupted block ends in the same way: only a failure of its step,
 * which is the next event, shows that the text is partial. A call after the block proves that it is complete.
 */
export function blockEnded(state: OpencodeState, kind: BlockKind, thread: Thread, data: Fields): Emitted[] {
  const id = blockId(kind, data)
  const emitted = completeEnded(state, thread, false)
  thread.blocks.delete(id)
  thread.endedBlock = { kind, id, text: text(data, 'text') ?? '' }
  if (thread.heldCalls.length === 0) return emitted
  emitted.push(...completeEnded(state, thread, false))
  return thread.blocks.size === 0 ? [...emitted, ...releaseCalls(state, thread)] : emitted
}

/** Emits what the thread holds back, in the order in which the model wrote it. */
export function releaseAll(state: OpencodeState, thread: Thread, partial = false): Emitted[] {
  return [...completeEnded(state, thread, partial), ...releaseCalls(state, thread)]
}

export function completeEnded(state: OpencodeState, thread: Thread, partial: boolean): Emitted[] {
  const { endedBlock: ended } = thread
  if (!ended) return []
  thread.endedBlock = undefined
  return completeBlock(state, thread, ended, partial || (state.turn?.aborted ?? false))
}

/** Completes a block with its whole text. Deltas that were missed are emitted, or the shown text is discarded. */
export function completeBlock(
  state: OpencodeState,
  thread: Thread,
  { kind, id, text: whole }: EndedBlock,
  partial: boolean,
): Emitted[] {
  const { ledger } = state
  const shown = ledger.messages.get(currentId(ledger.messages, ledger.closedMessages, id))?.text ?? ''
  if (whole === '' && shown === '') return []
  if (kind === 'text') thread.answer = whole
  const emitted = announce(state, thread)
  if (shown !== '' && shown !== whole) {
    if (whole.startsWith(shown))
      emitted.push(addDelta(ledger, kind, id, whole.slice(shown.length), thread.speaker))
    else emitted.push(...discardMessage(ledger, id))
  }
  emitted.push(completeMessage(ledger, kind, id, whole, { parent: thread.speaker, partial }))
  return emitted
}

function releaseCalls(state: OpencodeState, thread: Thread): Emitted[] {
  const held = thread.heldCalls
  if (held.length === 0) return []
  thread.heldCalls = []
  return held.flatMap((data) => startCall(state, thread, data))
}
