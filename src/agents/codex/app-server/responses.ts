import type { NoticeCode } from '../../../model/events/report.ts'
import type { ErrorCode, ErrorInfo } from '../../../model/index.ts'
import type { Decoded } from '../../agent.ts'
import { emit, emitAll, nothing, send } from '../../kit/decoded.ts'
import { type Fields, fields, int, text } from '../../kit/fields.ts'
import { updateSession } from '../../kit/known.ts'
import { codeOfText } from '../errors.ts'
import { afterHandshake, openThread, releaseHeld } from './commands.ts'
import { decodeGoalResponse } from './goals.ts'
import { openedThread, protocolRefused } from './notices.ts'
import { refusedSettings, restoreSettings } from './settings.ts'
import { endShells } from './shells.ts'
import type { AppServerState } from './state.ts'
import { endTurn } from './turns.ts'

/** A call of ours. */
interface SentCall {
  method: string
  params: Fields
}

/** Decodes the response to our call. */
export function decodeResponse(state: AppServerState, native: Fields): Decoded {
  const call = state.calls.take(native.id)
  if (native.error !== undefined) return refused(state, call, fields(native, 'error'))
  const result = fields(native, 'result')
  switch (call?.method) {
    case 'initialize':
      return state.opening ? send(afterHandshake(state)) : nothing
    case 'config/read':
      return send(openThread(state, fields(result, 'config')))
    case 'thread/start':
    case 'thread/resume':
    case 'thread/fork':
      return opened(state, result)
    case 'turn/start':
    case 'review/start':
      return named(state, result, call.params)
    case 'thread/goal/get':
    case 'thread/goal/clear':
      return decodeGoalResponse(state, call.method, result)
    case 'thread/settings/update':
      return send(releaseHeld(state))
    case 'thread/backgroundTerminals/list':
      return send(endShells(state, result))
    default:
      return nothing
  }
}

function opened(state: AppServerState, result: Fields): Decoded {
  const thread = fields(result, 'thread')
  const id = text(thread, 'id')
  if (id === undefined)
    return failed(state, 'agent_error', { code: 'unknown', message: 'the thread has no id' })
  state.threadId = id
  const emitted = openedThread(state, { ...thread, model: result.model ?? thread.model })
  return send(releaseHeld(state), emitted)
}

/** The turn has an id now; it starts when the agent reports so. */
function named(state: AppServerState, result: Fields, params: Fields): Decoded {
  const id = text(fields(result, 'turn'), 'id')
  if (id !== undefined && state.turn && !state.ended.has(id)) state.turn.id ??= id
  return emitAll(updateSession(state, { model: text(params, 'model') }))
}

function refused(state: AppServerState, call: SentCall | undefined, error: Fields): Decoded {
  const { method, params = {} } = call ?? {}
  const message = text(error, 'message') ?? 'refused'
  switch (method) {
    case 'initialize':
    case 'config/read':
    case 'thread/start':
      return failed(state, 'agent_error', { code: codeOfText(message), message })
    case 'thread/resume':
    case 'thread/fork':
      return failed(state, 'resume_failed', { code: resumeCode(error, message), message })
    case 'thread/goal/set':
      state.pursues = state.goal === 'active'
      // A pause that failed ends no turn.
      if (params.objective === undefined) break
      return unstarted(state, method, error, message)
    case 'thread/compact/start':
    case 'review/start':
    case 'thread/goal/get':
    case 'thread/goal/clear':
    case 'turn/start':
      return unstarted(state, method, error, message)
    case 'thread/settings/update':
      restoreSettings(state)
      return refusedSettings(state, error, message)
    case 'turn/interrupt':
      return emit({ type: 'notice.raised', level: 'warning', code: 'interrupt_refused', message })
  }
  return emit(protocolRefused(method, error, message))
}

/** Codex refused the call that would have started a turn. */
function unstarted(state: AppServerState, method: string, error: Fields, message: string): Decoded {
  restoreSettings(state)
  if (!state.turn || state.turn.id !== undefined) return emit(protocolRefused(method, error, message))
  return emitAll(endTurn(state, { evidence: 'error', error: { code: codeOfText(message), message } }))
}

/** The error code of an invalid request; for a resume it always means that the thread does not exist. */
const INVALID_REQUEST = -32600

function resumeCode(error: Fields, message: string): ErrorCode {
  return int(error, 'code') === INVALID_REQUEST ? 'session_not_found' : codeOfText(message)
}

/** Without a thread there is no conversation: the buffered prompt fails, and so does every later one. */
function failed(state: AppServerState, code: NoticeCode, error: ErrorInfo): Decoded {
  state.failure = error
  if (state.span.held) return emitAll(endTurn(state, { evidence: 'error', error }))
  return emit({ type: 'notice.raised', level: 'error', code, message: error.message })
}
