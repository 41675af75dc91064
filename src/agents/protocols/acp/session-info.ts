import type { Decoded } from '../../agent.ts'
import { emitAll } from '../../kit/decoded.ts'
import { count, type Fields, fields, isFields, text } from '../../kit/fields.ts'
import { updateSession } from '../../kit/known.ts'
import { discardBlock } from './blocks.ts'
import type { AcpChild, AcpState } from './state.ts'

/** The title; and, from one adapter, the state of the program behind it, also for a sub-agent. */
export function decodeSessionInfo(state: AcpState, update: Fields, child?: AcpChild): Decoded {
  const emitted = child ? [] : updateSession(state, { title: text(update, 'title') })
  const codex = fields(fields(update, '_meta'), 'codex')
  const status = text(fields(codex, 'threadStatus'), 'type')
  const { turn } = state
  if (turn && !child && status !== undefined)
    turn.failed = status === 'systemError' || (turn.failed && status === 'idle')
  if (!isFields(codex.error)) return emitAll(emitted)
  const { error } = codex
  const parts = [text(error, 'message'), text(error, 'additionalDetails')].filter(
    (part) => part !== undefined,
  )
  const message = parts.join(': ')
  if (error.willRetry !== true) {
    emitted.push({ type: 'notice.raised', level: 'error', code: 'agent_error', message })
    return emitAll(emitted)
  }
  const thread = child ?? turn
  if (thread) emitted.push(...discardBlock(state, thread))
  emitted.push({ type: 'limit.reported', kind: 'retry', message, ...retryFigures(error) })
  return emitAll(emitted)
}

/** "Reconnecting... 1/5", and the HTTP status that caused it. */
function retryFigures(error: Fields): { attempt?: number; of?: number; status?: number } {
  const [, attempt, of] = /(\d{1,4})\/(\d{1,4})/.exec(text(error, 'message') ?? '') ?? []
  // The name of the only field is the kind of failure; the status is inside it.
  const [status] = Object.values(fields(error, 'codexErrorInfo')).flatMap((info) =>
    isFields(info) ? (count(info, 'httpStatusCode') ?? []) : [],
  )
  return {
    ...(attempt !== undefined && of !== undefined && { attempt: Number(attempt), of: Number(of) }),
    ...(status !== undefined && { status }),
  }
}
