import type { LimitReported } from '../../../model/events/report.ts'
import { epochMs } from '../../../model/text/epoch-ms.ts'
import type { Decoded, Emitted } from '../../agent.ts'
import { emit, emitAll, nothing, skipped } from '../../kit/decoded.ts'
import {
  compact,
  type Fields,
  fields,
  flag,
  int,
  isFields,
  list,
  number,
  sameValue,
  text,
} from '../../kit/fields.ts'
import { updateSession } from '../../kit/known.ts'
import { ruleTable } from '../../kit/rules.ts'
import { retryOf } from '../errors.ts'
import type { AppServerState } from './state.ts'
import { adoptChild, discardHalves, isLate, parentOf } from './threads.ts'

/** Reports an error and whether Codex retries. The end of the turn is reported separately. */
export function decodeError(state: AppServerState, params: Fields): Decoded {
  const error = fields(params, 'error')
  const details = text(error, 'additionalDetails')
  const message = `${text(error, 'message') ?? ''}${details === undefined ? '' : ` (${details})`}`
  if (!flag(params, 'willRetry')) {
    return emit({ type: 'notice.raised', level: 'error', code: 'agent_error', message })
  }
  const parent = parentOf(state, params)
  // The partial messages belong to a later turn by now.
  if (isLate(state, params, parent)) return skipped
  const halves = discardHalves(state, parent)
  return emit(
    ...halves,
    retryOf(message, error.codexErrorInfo) ?? { type: 'limit.reported', kind: 'retry', message },
  )
}

/** Codex refused a call whose failure ends nothing. */
export function protocolRefused(method: string | undefined, error: Fields, message: string): Emitted {
  const data = { method: method ?? '?', code: int(error, 'code') ?? 0 }
  return { type: 'notice.raised', level: 'warning', code: 'protocol_refused', message, data }
}

export function decodeWarning(_state: AppServerState, params: Fields): Decoded {
  return emit({ type: 'notice.raised', level: 'warning', code: 'agent_warning', message: wordsOf(params) })
}

export function decodeDeprecation(_state: AppServerState, params: Fields): Decoded {
  return emit({ type: 'notice.raised', level: 'warning', code: 'deprecated', message: wordsOf(params) })
}

function wordsOf(params: Fields): string {
  const words = [text(params, 'summary') ?? text(params, 'message'), text(params, 'details')]
  return words.filter((part) => part !== undefined).join('\n')
}

/** Reports an MCP server that failed to start; a successful start is not reported. */
export function decodeMcpStatus(_state: AppServerState, params: Fields): Decoded {
  if (text(params, 'status') !== 'failed') return nothing
  const why = text(params, 'error') ?? text(params, 'failureReason') ?? 'no reason given'
  const message = `the MCP server ${text(params, 'name') ?? '?'} did not start: ${why}`
  return emit({ type: 'notice.raised', level: 'warning', code: 'agent_warning', message })
}

/** Account usage for each window with a figure. Emitted again only when it changed. */
export function decodeLimits(state: AppServerState, params: Fields): Decoded {
  const native = fields(params, 'rateLimits')
  const account = text(native, 'planType')
  const emitted = ['primary', 'secondary'].flatMap((window): LimitReported[] => {
    const limit = native[window]
    if (!isFields(limit)) return []
    const usedPercent = number(limit, 'usedPercent')
    const resetsAt = epochMs(number(limit, 'resetsAt'))
    const kind = (usedPercent ?? 0) >= 100 ? 'quota' : 'rate'
    return [{ type: 'limit.reported', kind, message: window, ...compact({ usedPercent, resetsAt, account }) }]
  })
  if (emitted.length === 0 || sameValue(emitted, state.limits)) return nothing
  state.limits = emitted
  return emitAll(emitted)
}

const statusOf = ruleTable<'in_progress' | 'completed'>({
  inProgress: 'in_progress',
  completed: 'completed',
})

export function decodePlan(state: AppServerState, params: Fields): Decoded {
  const parent = parentOf(state, params)
  if (isLate(state, params, parent)) return skipped
  const items = list(params, 'plan')
    .filter(isFields)
    .map((step) => ({
      text: text(step, 'step') ?? '',
      status: statusOf(step.status) ?? ('pending' as const),
    }))
  const adopted = parent === undefined ? [] : adoptChild(state, parent)
  const more = compact({ explanation: text(params, 'explanation'), parent })
  return emit(...adopted, { type: 'plan.updated', items, ...more })
}

export function decodeHookStarted(_state: AppServerState, params: Fields): Decoded {
  return emit({ type: 'hook.started', ...hookOf(fields(params, 'run')) })
}

export function decodeHookCompleted(_state: AppServerState, params: Fields): Decoded {
  const run = fields(params, 'run')
  const output = list(run, 'entries')
    .map((entry) => (isFields(entry) ? (text(entry, 'text') ?? '') : ''))
    .join('\n')
  return emit({ type: 'hook.completed', ...hookOf(run), status: hookStatus(text(run, 'status')), output })
}

function hookOf(run: Fields) {
  const event = text(run, 'eventName') ?? '?'
  return { hookId: text(run, 'id') ?? '?', name: event, event }
}

function hookStatus(status: string | undefined): 'success' | 'error' | 'blocked' | 'cancelled' {
  if (status === 'completed') return 'success'
  if (status === 'blocked') return 'blocked'
  return status === 'stopped' ? 'cancelled' : 'error'
}

export function decodeName(state: AppServerState, params: Fields): Decoded {
  const root = parentOf(state, params) === undefined
  return root ? emitAll(updateSession(state, { title: text(params, 'threadName') })) : nothing
}

/** A thread setting changed with a turn that requested it; most notifications repeat our settings. */
export function decodeSettings(state: AppServerState, params: Fields): Decoded {
  if (parentOf(state, params) !== undefined) return nothing
  const settings = fields(params, 'threadSettings')
  const mode = text(fields(settings, 'collaborationMode'), 'mode')
  return emitAll(updateSession(state, { model: text(settings, 'model'), mode }))
}

/** Repeats the response that opened the thread. */
export function decodeThreadStarted(state: AppServerState, params: Fields): Decoded {
  const thread = fields(params, 'thread')
  if (text(thread, 'parentThreadId') !== undefined) return nothing
  state.threadId ??= text(thread, 'id')
  return state.threadId === text(thread, 'id') ? emitAll(openedThread(state, thread)) : nothing
}

/** The session properties from the handshake. */
export function openedThread(state: AppServerState, thread: Fields): Emitted[] {
  return updateSession(state, {
    nativeSessionId: text(thread, 'id'),
    agentVersion: text(thread, 'cliVersion'),
    model: text(thread, 'model'),
  })
}
