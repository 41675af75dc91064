import type { Decoded, Emitted } from '../agent.ts'
import { emitAll, nothing, unmapped } from '../kit/decoded.ts'
import { asFields, asText, compact, type Fields, isFields, text } from '../kit/fields.ts'
import { ruleTable } from '../kit/rules.ts'
import { changeInDiff, type FileChange } from '../kit/tools.ts'
import { change, finishCall, startCall } from './calls.ts'
import { errorOf } from './errors.ts'
import { adopt, type BoardCodecState, ID_PREFIX } from './state.ts'

/** Decodes an event; returns undefined when a required field is missing, and the frame is then kept whole. */
type BoardRule = (state: BoardCodecState, id: string, payload: Fields) => readonly Emitted[] | undefined

const ruleOf = ruleTable<BoardRule>({
  // Messages arrive complete and each id once, so the ledger need not track them.
  plan(_state, id, payload) {
    const message = text(payload, 'message')
    if (message === undefined) return undefined
    return [{ type: 'text.completed', messageId: id, text: message, phase: 'commentary' }]
  },
  log(_state, id, { line, request }) {
    if (typeof line !== 'string') return undefined
    if (!isFields(request)) return [{ type: 'text.completed', messageId: id, text: line }]
    // The request is answered on the board server; the notice explains the wait.
    return [{ type: 'notice.raised', level: 'warning', code: 'agent_warning', message: line, data: request }]
  },
  action(state, id, payload) {
    const tool = text(payload, 'tool')
    return tool === undefined ? undefined : [startCall(state, id, tool, payload)]
  },
  toolResult(state, id, payload) {
    const tool = text(payload, 'tool')
    return tool === undefined ? undefined : finishCall(state, id, tool, payload)
  },
  diff(state, _id, payload) {
    const file = text(payload, 'file')
    return file === undefined ? undefined : change(state, changeOf(file, payload))
  },
  error(state, _id, payload) {
    const error = errorOf(payload)
    if (state.failure) {
      return [{ type: 'notice.raised', level: 'error', code: 'agent_error', message: error.message }]
    }
    const reason = text(payload, 'outcome')
    state.failure = { evidence: 'error', error, ...(reason !== undefined && { reason }) }
    return []
  },
  cancelled(state) {
    state.failure ??= { evidence: 'aborted' }
    return []
  },
})

export function decodeEvent(state: BoardCodecState, native: Fields, raw: string): Decoded {
  const type = asText(native.type) ?? '?'
  const session = asText(native.sessionId)
  if (session !== undefined && state.session !== undefined && session !== state.session) {
    return unmapped(type, raw)
  }
  const id = asText(native.id) ?? `e${state.start.epoch}.n${++state.unnamed}`
  const bareId = id.startsWith(ID_PREFIX) ? id.slice(ID_PREFIX.length) : id
  if (state.seen.has(bareId)) return nothing
  state.seen.add(bareId)
  const rule = ruleOf(type)
  if (!rule) return unmapped(type, raw)
  const begun = begin(state, session)
  const emitted = rule(state, id, asFields(native.payload))
  if (emitted) return emitAll(begun.length === 0 ? emitted : [...begun, ...emitted])
  const kept = unmapped(type, raw)
  return { ...kept, emitted: [...begun, ...kept.emitted] }
}

const NONE: readonly Emitted[] = []

/** Without a call of ours, as in a file of events, the first event opens the turn. */
function begin(state: BoardCodecState, session: string | undefined): readonly Emitted[] {
  const emitted = session === undefined ? NONE : adopt(state, session)
  if (state.turnOpen) return emitted
  state.turnOpen = true
  return [...emitted, { type: 'turn.started', origin: 'prompt' }]
}

const CHANGES: ReadonlySet<unknown> = new Set([
  'created',
  'deleted',
  'renamed',
] satisfies FileChange['change'][])

function isChange(word: unknown): word is FileChange['change'] {
  return CHANGES.has(word)
}

function changeOf(path: string, payload: Fields): FileChange {
  const diff = text(payload, 'diff')
  return {
    path,
    ...(isChange(payload.change) ? { change: payload.change } : changeInDiff(diff ?? '')),
    ...compact({ diff: diff === '' ? undefined : diff, from: text(payload, 'from') }),
  }
}
