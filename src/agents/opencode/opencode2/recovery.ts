import type { Decoded, Emitted, Write } from '../../agent.ts'
import { emitAll, nothing, send } from '../../kit/decoded.ts'
import { type Fields, fields, objects, text } from '../../kit/fields.ts'
import { currentId } from '../../kit/ledger.ts'
import { formCreated, permissionAsked, withdrawOthers } from './asks.ts'
import { completeBlock, releaseAll } from './blocks.ts'
import { failed, startCall, succeeded } from './calls.ts'
import { failureOf } from './errors.ts'
import { stepEnded } from './executions.ts'
import { eventsMissing } from './missing.ts'
import { promptCall } from './replies.ts'
import type { OpencodeState } from './state.ts'
import type { Thread } from './thread.ts'
import { endTurn } from './turn.ts'

/**
 * The stream cannot be replayed. A second stream may have missed events, so the state is read after it has begun:
 * messages, requests, the inbox and whether the session still works.
 */
export function readState(state: OpencodeState): Decoded {
  const { root, turn } = state
  if (!root || !turn) return nothing
  const writes: Write[] = []
  for (const thread of state.threads.values()) {
    if (thread.ended) continue
    for (const what of ['message', 'permission', 'form'])
      writes.push(read(`state ${what} ${thread.id}`, `/api/session/${thread.id}/${what}`))
  }
  writes.push(read(`state inbox ${root.id}`, `/api/session/${root.id}/inbox`))
  writes.push(read(`state active ${root.id}`, '/api/session/active'))
  return send(writes)
}

function read(tag: string, path: string): Write {
  return { kind: 'http', method: 'GET', path, tag }
}

/** Applies one of these responses. Items that the stream has reported are left as they are. */
export function applyState(state: OpencodeState, what: string, sessionId: string, body: Fields): Decoded {
  const thread = what === 'active' ? state.root : state.threads.get(sessionId)
  if (!thread || !state.turn) return nothing
  switch (what) {
    case 'message':
      return emitAll(readMessages(state, thread, objects(body, 'data')))
    case 'permission':
      return readRequests(state, thread, 'permission', objects(body, 'data'))
    case 'form':
      return readRequests(state, thread, 'question', objects(body, 'data'))
    case 'inbox':
      return nothing
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
  const answers = (at < 0 ? messages : messages.slice(0, at)).filter(({ type }) => type === 'assistant')
  const emitted = releaseAll(state, thread)
  const recovered: string[] = []
  for (const message of answers.reverse()) emitted.push(...readAnswer(state, thread, message, recovered))
  if (recovered.length > 0) {
    const what = recovered.join(', ')
    const notice = `the event stream was interrupted: text was read from the stored messages, without deltas: ${what}`
    emitted.push(eventsMissing(notice, { session: thread.id, messages: recovered }))
  }
  return emitted
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
  thread: Thread,
  kind: 'permission' | 'question',
  listed: readonly Fields[],
): Decoded {
  const emitted = withdrawOthers(state, kind, thread, listed)
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

/** The session has no execution: it ended while nothing was received, or the prompt never reached it. */
function readActive(state: OpencodeState, root: Thread, active: Fields): Decoded {
  const { turn } = state
  if (!turn || active[root.id] !== undefined) return nothing
  if (turn.delivered) {
    turn.doneAt = state.clock
    return emitAll(endTurn(state, { failure: root.failure }))
  }
  // The same id again: a prompt that the server has is not added a second time.
  return turn.body && !turn.aborted ? send([promptCall(root.id, turn.body)]) : nothing
}
