import type { Frame } from '../../../framing/frame.ts'
import type { AnswerCommand, Command } from '../../../model/index.ts'
import { compact, type Fields, fields, isFields, list, text, texts } from '../../kit/fields.ts'
import { closeRequest, requestIdOf } from '../../kit/requests.ts'
import { refuseAsked } from '../asks.ts'
import { noteLasting } from './requests.ts'
import type { ServeState } from './state.ts'
import { adoptRoot } from './state.ts'

const PROMPTS: ReadonlySet<string> = new Set(['prompt_async', 'message', 'summarize'])

/** Reads a call of a transcript: `{ method, path, body }`. */
export function sent(state: ServeState, frame: Frame): Command | undefined {
  return isFields(frame.value) ? applySent(state, frame.value) : undefined
}

/** Updates the state for a call to the server; both `encode` and transcripts use it. */
export function applySent(state: ServeState, native: Fields): Command | undefined {
  const [, area, id = '', action] = (text(native, 'path') ?? '').split('/')
  const body = fields(native, 'body')
  if (area === 'session') return noteSession(state, text(native, 'method'), id, action, body)
  if (area !== 'permission' && area !== 'question') return undefined
  const requestId = requestIdOf(state.start, id)
  const asked = closeRequest(state.ledger, requestId)
  if (!asked) return undefined
  const answer =
    asked.kind === 'question' ? questionAnswer(requestId, action, body) : permissionAnswer(requestId, body)
  if (answer.decision === 'deny') refuseAsked(state, asked, 'person')
  if (asked.kind === 'permission') noteLasting(state, answer)
  return answer
}

function noteSession(
  state: ServeState,
  method: string | undefined,
  id: string,
  action: string | undefined,
  body: Fields,
): Command | undefined {
  if (action === undefined) {
    const opens = method === 'POST' ? id === '' : id !== '' && id === state.start.resume
    state.driven ||= opens && !state.root
    return undefined
  }
  if (action === 'fork') state.driven ||= !state.root
  if (action === 'abort') return noteAbort(state, id)
  if (!PROMPTS.has(action) || method !== 'POST') return undefined
  const root = state.root ?? adoptRoot(state, id)
  if (root.id !== id || state.turn.open) return undefined
  state.turn.open = true
  state.turn.since = state.clock
  // A prompt of another client that started no turn joins ours.
  state.turn.pendingTurn = undefined
  if (action === 'summarize') return { type: 'prompt', text: '/compact' }
  const texts = list(body, 'parts').map((part) => (isFields(part) ? (text(part, 'text') ?? '') : ''))
  return { type: 'prompt', text: texts.join('') }
}

/** Ignores aborts of other sessions. */
function noteAbort(state: ServeState, id: string): Command | undefined {
  if (id !== state.root?.id) return undefined
  state.turn.aborted = state.turn.open
  state.aborting = state.turn.open
  return { type: 'interrupt' }
}

function permissionAnswer(requestId: string, body: Fields): AnswerCommand {
  const reply = text(body, 'reply')
  if (reply === 'once' || reply === 'always') {
    return { type: 'answer', requestId, decision: 'allow', scope: reply === 'always' ? 'session' : 'once' }
  }
  return { type: 'answer', requestId, decision: 'deny', ...compact({ message: text(body, 'message') }) }
}

function questionAnswer(requestId: string, action: string | undefined, body: Fields): AnswerCommand {
  if (action === 'reject') return { type: 'answer', requestId, decision: 'deny' }
  const answers: Record<string, string[]> = {}
  list(body, 'answers').forEach((labels, index) => {
    answers[index] = texts({ labels }, 'labels') ?? []
  })
  return { type: 'answer', requestId, decision: 'answered', answers }
}
