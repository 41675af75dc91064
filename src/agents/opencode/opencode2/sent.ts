import type { Frame } from '../../../framing/frame.ts'
import type { AnswerCommand, Command } from '../../../model/index.ts'
import { compact, type Fields, fields, isFields, objects, text, texts } from '../../kit/fields.ts'
import { askOf, closeRequest, requestIdOf } from '../../kit/requests.ts'
import { refuseAsked } from '../asks.ts'
import { noteRejection } from './asks.ts'
import { type Ask, newCompaction, newTurn, type OpencodeState } from './state.ts'
import { adoptRoot } from './thread.ts'

/** Reads a call of a transcript: `{ method, path, body }`. */
export function sent(state: OpencodeState, frame: Frame): Command | undefined {
  if (!isFields(frame.value)) return undefined
  const [, , area, id = '', action, item = ''] = (text(frame.value, 'path') ?? '').split(/[/?]/)
  if (area !== 'session' || action === undefined) return undefined
  const method = text(frame.value, 'method')
  const body = fields(frame.value, 'body')
  switch (action) {
    case 'prompt':
      return method === 'POST' ? prompted(state, id, body) : undefined
    case 'compact':
      return compacted(state, id)
    case 'interrupt':
      return interrupted(state, id)
    case 'permission':
    case 'form':
      return method === 'GET' ? undefined : answered(state, item, method, frame.value)
    default:
      return undefined
  }
}

/** A prompt during a turn joins it or waits in the inbox: its delivery tells. */
function prompted(state: OpencodeState, id: string, body: Fields): Command | undefined {
  const root = state.root ?? adoptRoot(state, id)
  const promptId = text(body, 'id')
  const isKnown = promptId !== undefined && state.prompted.has(promptId)
  if (promptId !== undefined) state.prompted.add(promptId)
  if (root.id !== id || state.turn || isKnown || body.resume === false) return undefined
  state.turn = newTurn(promptId)
  return { type: 'prompt', text: text(body, 'text') ?? '' }
}

function compacted(state: OpencodeState, id: string): Command | undefined {
  const root = state.root ?? adoptRoot(state, id)
  if (root.id !== id || state.turn) return undefined
  state.turn = newTurn()
  state.turn.compaction = newCompaction()
  return { type: 'prompt', text: '/compact' }
}

/** Ignores interrupts of other sessions. */
function interrupted(state: OpencodeState, id: string): Command | undefined {
  if (id !== state.root?.id || !state.turn) return undefined
  state.turn.aborted = true
  state.aborting = true
  return { type: 'interrupt' }
}

function answered(
  state: OpencodeState,
  nativeId: string,
  method: string | undefined,
  native: Fields,
): Command | undefined {
  const requestId = requestIdOf(state.start, nativeId)
  const ask = askOf(state.ledger, requestId)
  const body = fields(native, 'body')
  const command = ask && commandOf(requestId, ask, method, text(native, 'path') ?? '', body)
  if (!ask || !command) return undefined
  closeRequest(state.ledger, requestId)
  if (command.decision !== 'deny') return command
  refuseAsked(state, ask, 'person')
  noteRejection(state, ask, command)
  return command
}

function commandOf(
  requestId: string,
  ask: Ask,
  method: string | undefined,
  path: string,
  body: Fields,
): AnswerCommand | undefined {
  const base = { type: 'answer', requestId } as const
  if (ask.kind === 'question') {
    if (method === 'DELETE' || path.endsWith('/cancel')) return { ...base, decision: 'deny' }
    return { ...base, decision: 'answered', answers: answersOf(ask, fields(body, 'answer')) }
  }
  const reply = text(body, 'decision') ?? text(body, 'reply')
  if (reply === 'reject') return { ...base, decision: 'deny', ...compact({ message: text(body, 'message') }) }
  if (reply === 'once') return { ...base, decision: 'allow', scope: 'once' }
  return reply === 'always' ? { ...base, decision: 'allow', scope: 'always' } : undefined
}

function answersOf({ native: form }: Ask, native: Fields): Record<string, string[]> {
  const answers: Record<string, string[]> = {}
  for (const key of objects(form, 'fields').flatMap((field) => text(field, 'key') ?? [])) {
    const value = native[key]
    if (value !== undefined) answers[key] = texts({ value }, 'value') ?? [String(value)]
  }
  return answers
}
