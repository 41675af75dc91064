import { OUTSIDE_ID } from '../../../model/index.ts'
import type { Step } from '../../agent.ts'
import { nothing, say, sayAll, send } from '../../decoded.ts'
import { count, type Fields, fields, text } from '../../fields.ts'
import { failureOfAnswer } from '../errors.ts'
import { prompt } from './commands.ts'
import { factsOf, update } from './sessions.ts'
import type { State } from './state.ts'
import { adoptRoot } from './thread.ts'
import { endTurn } from './turn.ts'

/** What came back over HTTP: a frame of stream `http` with the value `{ tag, status, body }` of the call it answers. */
export function decodeAnswer(state: State, native: Fields): Step {
  const status = count(native, 'status') ?? 0
  const body = fields(native, 'body')
  const failed = status < 200 || status > 299
  switch (text(native, 'tag')) {
    case 'session':
      return failed ? openFailed(state, status, body) : opened(state, body)
    case 'prompt':
      if (!failed || !state.root || !state.turnOpen) return nothing
      state.root.failure ??= failureOfAnswer(status, body)
      return sayAll(endTurn(state))
    case 'abort':
      state.aborting = false
      if (!failed) return nothing
      state.aborted = false
      return notice('interrupt_refused', status, body)
    case 'steer':
    case 'answer':
      return failed ? notice('protocol_refused', status, body) : nothing
    default:
      return nothing
  }
}

function opened(state: State, body: Fields): Step {
  if (state.root) return nothing
  const id = text(body, 'id') ?? ''
  // It becomes part of every path from now on.
  if (!OUTSIDE_ID.test(id)) return openFailed(state, 502, body)
  const said = [...update(state, factsOf(id, body))]
  adoptRoot(state, id)
  const waiting = state.waiting
  if (!waiting) return sayAll(said)
  state.waiting = undefined
  // The turn is open already; the call must not find it so.
  state.turnOpen = false
  return send(prompt(state, waiting).writes, said)
}

function openFailed(state: State, status: number, body: Fields): Step {
  state.openFailure = failureOfAnswer(status, body)
  if (status === 404) state.openFailure.error.code = 'session_not_found'
  state.waiting = undefined
  return state.turnOpen ? sayAll(endTurn(state)) : nothing
}

function notice(code: 'interrupt_refused' | 'protocol_refused', status: number, body: Fields): Step {
  const { message } = failureOfAnswer(status, body).error
  return say({ type: 'notice.raised', level: 'warning', code, message, data: { status } })
}
