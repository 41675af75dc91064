import type { Decoded, Emitted, Write } from '../../agent.ts'
import { emitAll, held, nothing, send, skipped } from '../../kit/decoded.ts'
import { type Fields, fields, text } from '../../kit/fields.ts'
import { inboxRemoval } from './replies.ts'
import { type InboxItem, newCompaction, type OpencodeState, type OpencodeTurn } from './state.ts'
import type { Thread } from './thread.ts'
import { beginTurn, endTurn } from './turn.ts'

/** The server accepted a prompt, or a background result arrived. The model has not read it yet. */
export function enqueued(state: OpencodeState, thread: Thread, data: Fields): Decoded {
  const id = text(data, 'inboxID') ?? ''
  if (thread !== state.root || state.inbox.has(id)) return skipped
  const item = fields(data, 'item')
  const payload = fields(item, 'payload')
  const type = text(item, 'type') ?? 'user'
  state.inbox.set(id, {
    type,
    text: text(payload, 'text') ?? '',
    delivery: text(item, 'delivery') ?? 'steer',
    delivered: false,
  })
  const { turn } = state
  const isOwn = turn && !turn.accepted && type === typeOf(turn) && (turn.promptId ?? id) === id
  const writes = isOwn ? accept(state, turn, id) : []
  if (writes.length > 0) return send(writes)
  // Other synthetic items are instructions for the model, such as those of plan mode.
  const isResult = type === 'synthetic' && text(fields(payload, 'metadata'), 'source') !== undefined
  if (isResult) return emitAll([backgroundFinished(payload)])
  return text(payload, 'text') === undefined ? nothing : held([])
}

function typeOf({ compaction }: OpencodeTurn): string {
  return compaction ? 'compaction' : 'user'
}

/** The server has the prompt or the compaction of the turn. A compaction that was interrupted without an id is removed. */
export function accept(state: OpencodeState, turn: OpencodeTurn, id: string): Write[] {
  const isLate = turn.compaction !== undefined && turn.aborted && turn.promptId === undefined
  turn.promptId = id
  turn.accepted = true
  return isLate ? [...removeUndelivered(state).writes] : []
}

function backgroundFinished(payload: Fields): Emitted {
  return {
    type: 'notice.raised',
    level: 'info',
    code: 'background_finished',
    message: text(payload, 'description') ?? 'background work ended',
    data: payload,
  }
}

export function deliveryChanged(state: OpencodeState, data: Fields): Decoded {
  const item = state.inbox.get(text(data, 'inboxID') ?? '')
  if (item) item.delivery = text(data, 'delivery') ?? item.delivery
  return nothing
}

/** The model reads the item with its next call. An execution may answer several prompts, so turns begin here. */
export function delivered(state: OpencodeState, thread: Thread, data: Fields): Decoded {
  const id = text(data, 'inboxID') ?? ''
  if (thread !== state.root) return nothing
  const item = state.inbox.get(id) ?? UNKNOWN
  item.delivered = true
  const { turn } = state
  if (turn?.promptId === id) {
    turn.delivered = true
    return nothing
  }
  if (!turn) return emitAll([start(state, id, item)])
  if (item.type === 'synthetic' || (item.type === 'compaction' && !turn.delivered)) return nothing
  // The server delivers a queued prompt when it has nothing more to do for the one before.
  if (item.delivery === 'queue' && turn.delivered) {
    return emitAll([...endTurn(state), start(state, id, item)])
  }
  return emitAll([{ type: 'turn.steered', prompt: item.text, effect: 'folded' }])
}

/** A prompt that was enqueued before the stream began. */
const UNKNOWN: InboxItem = { type: 'user', text: '', delivery: 'steer', delivered: true }

function start(state: OpencodeState, id: string, { type, text }: InboxItem): Emitted {
  const isCompaction = type === 'compaction'
  const started = beginTurn(state, id, isCompaction ? '/compact' : type === 'user' ? text : undefined)
  if (state.turn && isCompaction) state.turn.compaction = newCompaction()
  return started
}

/** A prompt was removed before the model read it. */
export function cancelled(state: OpencodeState, data: Fields): Decoded {
  const id = text(data, 'inboxID') ?? ''
  state.inbox.delete(id)
  const { turn } = state
  if (turn?.promptId !== id || turn.delivered) return nothing
  return emitAll(endTurn(state, { failure: INTERRUPTED }))
}

export const INTERRUPTED = {
  name: 'interrupted',
  evidence: 'aborted',
  error: { code: 'unknown', message: 'the turn was interrupted' },
} as const

/** Removes prompts that the model has not read: the server would deliver them with the next one. */
export function removeUndelivered(state: OpencodeState): Decoded {
  const { root } = state
  if (!root) return nothing
  const waiting = [...state.inbox].filter(([, item]) => item.type === 'user' && !item.delivered)
  const ids = new Set(waiting.map(([id]) => id))
  const { turn } = state
  if (turn?.promptId !== undefined && !turn.delivered) ids.add(turn.promptId)
  return ids.size === 0 ? nothing : send([...ids].map((id) => inboxRemoval(root.id, id)))
}
