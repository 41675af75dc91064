import type { Decoded, Emitted, Write } from '../../agent.ts'
import { emitAll, nothing, send } from '../../kit/decoded.ts'
import { compact, type Fields, fields, objects, text } from '../../kit/fields.ts'
import { currentId } from '../../kit/ledger.ts'
import { formCreated, GLOBAL, permissionAsked, threadOfSession, withdrawOthers } from './asks.ts'
import { completeBlock, releaseAll } from './blocks.ts'
import { failed, startCall, succeeded } from './calls.ts'
import { failureOf } from './errors.ts'
import { stepEnded } from './executions.ts'
import { enqueued } from './inbox.ts'
import { eventsMissing } from './missing.ts'
import { promptCall } from './replies.ts'
import type { OpencodeState, TurnCompaction } from './state.ts'
import type { Thread } from './thread.ts'
import { endTurn } from './turn.ts'

/**
 * The stream cannot be replayed. A second stream may have missed events, so the state is read after it has begun:
 * messages, requests, the inbox and whether the session still works.
 */
export function readState(state: OpencodeState): Decoded {
  const { root, turn } = state
  if (!root) return nothing
  const writes: Write[] = []
  const ofSession = (what: string, id: string) =>
    writes.push(read(`state ${what} ${id}`, `/api/session/${id}/${what}`))
  for (const { id, ended } of state.threads.values()) {
    if (ended) continue
    if (turn) ofSession('message', id)
    // Between two turns, a sub-agent in the background may ask.
    ofSession('permission', id)
    ofSession('form', id)
  }
  ofSession('form', GLOBAL)
  ofSession('inbox', root.id)
  if (turn) writes.push(read(`state active ${root.id}`, '/api/session/active'))
  return send(writes)
}

function read(tag: string, path: string): Write {
  return { kind: 'http', method: 'GET', path, tag }
}

/** Applies one of these responses. Items that the stream has reported are left as they are. */
export function applyState(state: OpencodeState, what: string, sessionId: string, body: Fields): Decoded {
  const thread = what === 'active' ? state.root : threadOfSession(state, sessionId)
  if (!thread) return nothing
  switch (what) {
    case 'message':
      return state.turn ? emitAll(readMessages(state, thread, objects(body, 'data'))) : nothing
    case 'last':
      return emitAll(readLast(state, thread, objects(body, 'data')))
    case 'permission':
      return readRequests(state, sessionId, 'permission', objects(body, 'data'))
    case 'form':
      return readRequests(state, sessionId, 'question', objects(body, 'data'))
    case 'inbox':
      return readInbox(state, thread, objects(body, 'data'))
    case 'active':
      return readActive(state, thread, fields(body, 'data'))
    default:
      return nothing
  }
}

/** Messages come newest first. Those of the turn follow its prompt. */
function readMessages(state: OpencodeState, thread: Thread, messages: readonly Fields[]): Emitted[] {
  const { turn } = state
  const at = messages.findIndex(({ id }) => turn?.promptId !== undefined && id === turn.promptId)
  if (thread === state.root && turn && at >= 0) turn.delivered = true
  if (thread === state.root && at < 0) return []
  const emitted = releaseAll(state, thread)
  const { compaction } = turn ?? {}
  if (compaction && thread === state.root) emitted.push(...readCompaction(compaction, messages[at]))
  const recovered: string[] = []
  for (const message of (at < 0 ? messages : messages.slice(0, at)).toReversed()) {
    if (message.type === 'assistant') emitted.push(...readAnswer(state, thread, message, recovered))
    else if (message.type === 'user' && thread === state.root) emitted.push(...readSteer(state, message))
  }
  if (recovered.length > 0) {
    const what = recovered.join(', ')
    const notice = `the event stream was interrupted: text was read from the stored messages, without deltas: ${what}`
    emitted.push(eventsMissing(notice, { session: thread.id, messages: recovered }))
  }
  return emitted
}

/** The compaction that the turn is about, if the event of its end was missed. */
function readCompaction(compaction: TurnCompaction, message: Fields = {}): Emitted[] {
  if (message.status === 'failed') compaction.failure ??= failureOf(fields(message, 'error'))
  if (message.status !== 'completed' || compaction.isReported) return []
  compaction.isReported = true
  return [compacted(message)]
}

export function compacted(native: Fields): Emitted {
  return { type: 'context.compacted', ...compact({ trigger: text(native, 'reason') }) }
}

/** A message that joined the turn, if the event of its delivery was missed. */
function readSteer(state: OpencodeState, message: Fields): Emitted[] {
  const id = text(message, 'id') ?? ''
  const item = state.inbox.get(id)
  if (item?.delivered) return []
  const prompt = text(message, 'text') ?? item?.text ?? ''
  state.inbox.set(id, { type: 'user', text: prompt, delivery: 'steer', delivered: true })
  return [{ type: 'turn.steered', prompt, effect: 'folded' }]
}

/** What the server accepted while nothing was received; an event will tell when the model reads it. */
function readInbox(state: OpencodeState, root: Thread, items: readonly Fields[]): Decoded {
  return emitAll(items.flatMap((item) => enqueued(state, root, { inboxID: item.id, item }).emitted))
}

/** The messages of a turn that is over. Its last events may still be on their way, and repeat them. */
function readLast(state: OpencodeState, root: Thread, messages: readonly Fields[]): Emitted[] {
  const { turn } = state
  if (!turn?.isIdle) return []
  const emitted = readMessages(state, root, messages)
  for (const { id, type } of messages) if (type === 'assistant') state.over.add(String(id))
  turn.doneAt = state.clock
  return [...emitted, ...endTurn(state, { failure: turn.compaction?.failure ?? root.failure })]
}

function readAnswer(state: OpencodeState, thread: Thread, message: Fields, recovered: string[]): Emitted[] {
  const { ledger } = state
  const id = text(message, 'id') ?? ''
  const isDone = fields(message, 'time').completed !== undefined
  const content = objects(message, 'content')
  const numbers = { text: 0, thinking: 0 }
  const emitted: Emitted[] = []
  content.forEach((part, index) => {
    if (part.type === 'tool') {
      emitted.push(...readCall(state, thread, part))
      return
    }
    const kind = part.type === 'text' ? 'text' : 'thinking'
    const blockId = `${id}:${kind === 'text' ? 't' : 'r'}${numbers[kind]++}`
    // The last block of an unfinished answer is still streamed.
    const isOpen = !isDone && index === content.length - 1
    if (isOpen || (ledger.closedMessages.has(blockId) && !isShown(state, blockId))) return
    thread.blocks.delete(blockId)
    const block = { kind, id: blockId, text: text(part, 'text') ?? '' } as const
    const completed = completeBlock(state, thread, block, message.error !== undefined)
    if (completed.length > 0) recovered.push(blockId)
    emitted.push(...completed)
  })
  if (!isDone) return emitted
  if (message.error !== undefined) thread.failure = failureOf(fields(message, 'error'))
  const isNew = !state.steps.has(id) && message.tokens !== undefined
  const data = { assistantMessageID: id, finish: message.finish, tokens: message.tokens, cost: message.cost }
  return isNew ? [...emitted, ...stepEnded(state, thread, data)] : emitted
}

function isShown({ ledger }: OpencodeState, blockId: string): boolean {
  return ledger.messages.has(currentId(ledger.messages, ledger.closedMessages, blockId))
}

/** A call as it is stored: `running`, `completed` or `error`. */
function readCall(state: OpencodeState, thread: Thread, part: Fields): Emitted[] {
  const stored = fields(part, 'state')
  const status = text(stored, 'status')
  const known = state.calls.get(`${thread.id} ${text(part, 'id') ?? ''}`)
  const isOver = known !== undefined && state.ledger.closedTools.has(known.toolId)
  if (isOver || status === 'pending' || status === 'streaming') return []
  const call = { ...stored, id: part.id, name: part.name }
  const started = startCall(state, thread, call)
  if (status === 'completed') return [...started, ...succeeded(state, thread, call)]
  return status === 'error' ? [...started, ...failed(state, thread, call)] : started
}

function readRequests(
  state: OpencodeState,
  session: string,
  kind: 'permission' | 'question',
  listed: readonly Fields[],
): Decoded {
  const emitted = withdrawOthers(state, kind, session, listed)
  const writes: Write[] = []
  for (const one of listed) {
    const raw = JSON.stringify(one)
    const step =
      kind === 'permission' ? permissionAsked(state, one, raw) : formCreated(state, { form: one }, raw)
    emitted.push(...step.emitted)
    writes.push(...step.writes)
  }
  return send(writes, emitted)
}

/**
 * The session has no execution: it ended while nothing was received, or the prompt never reached it. The messages that
 * were read before may lack its last ones, so they are read again.
 */
function readActive(state: OpencodeState, root: Thread, active: Fields): Decoded {
  const { turn } = state
  if (!turn || active[root.id] !== undefined) return nothing
  if (turn.delivered) {
    turn.isIdle = true
    return send([read(`state last ${root.id}`, `/api/session/${root.id}/message`)])
  }
  // The same id again: a prompt that the server has is not added a second time.
  return turn.body && !turn.aborted ? send([promptCall(root.id, turn.body)]) : nothing
}
