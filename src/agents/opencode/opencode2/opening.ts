import { OUTSIDE_ID } from '../../../model/index.ts'
import type { Decoded, Emitted, Write } from '../../agent.ts'
import { emitAll, nothing, send } from '../../kit/decoded.ts'
import { type Fields, fields, number, objects, text } from '../../kit/fields.ts'
import { updateSession } from '../../kit/known.ts'
import { factsOf } from '../effects.ts'
import type { Failure } from '../errors.ts'
import { sendPrompt } from './commands.ts'
import { failureOfResponse } from './errors.ts'
import { isOwnPrompt } from './prompt-id.ts'
import { inboxRemoval } from './replies.ts'
import { sessionRules } from './rules.ts'
import type { OpencodeState } from './state.ts'
import { adoptRoot } from './thread.ts'
import { endTurn } from './turn.ts'

function get(tag: string, path: string): Write {
  return { kind: 'http', method: 'GET', path, tag }
}

/** The released server has `/api/info`; its preview had `/api/health`. */
export const PROBE = get('info', '/api/info')

export function probed(state: OpencodeState, tag: 'info' | 'health', status: number, body: Fields): Decoded {
  const { opening, start } = state
  if (status < 200 || status > 299) {
    if (tag === 'info') return send([get('health', '/api/health')])
    return openFailed(state, notTheServer(status))
  }
  opening.api = tag === 'info' ? 'released' : 'preview'
  const { resume } = start
  const session: Write =
    resume === undefined
      ? { kind: 'http', method: 'POST', path: '/api/session', tag: 'session', body: sessionBody(state) }
      : get('session', `/api/session/${resume}`)
  return send([session], updateSession(state, { agentVersion: text(body, 'version') }))
}

function notTheServer(status: number): Failure {
  const message = `this is not the server of OpenCode 2: /api/info and /api/health do not answer (HTTP ${status}). Install opencode 2, or opencode-ai 1.18`
  return { name: `HTTP ${status}`, evidence: 'error', error: { code: 'agent_not_ready', message } }
}

function sessionBody({ start, model, mode, opening }: OpencodeState): Fields {
  const permissions = opening.api === 'released' ? sessionRules(start.policy) : []
  return {
    location: { directory: start.cwd },
    ...(permissions.length > 0 && { permissions }),
    ...(model !== undefined && { model: modelRef(model, start.options.effort) }),
    ...(mode !== undefined && { agent: mode }),
  }
}

/** `provider/model`, as OpenCode refers to it. */
export function modelRef(model: string, variant: string | undefined): Fields {
  const [providerID = '', ...id] = model.split('/')
  return { providerID, id: id.join('/'), ...(variant !== undefined && { variant }) }
}

/** The session is open. Its directory loads agents and MCP servers, without which the first model call lacks tools. */
export function opened(state: OpencodeState, body: Fields): Decoded {
  if (state.root) return nothing
  const info = fields(body, 'data')
  const id = text(info, 'id') ?? ''
  // The id becomes part of every later path.
  if (!OUTSIDE_ID.test(id)) return openFailed(state, failureOfResponse(502, body))
  const time = fields(info, 'time')
  state.clock = Math.max(state.clock, number(time, 'updated') ?? 0)
  const emitted = updateSession(state, factsOf(id, info))
  adoptRoot(state, id)
  if (!state.opening.driven) return emitAll(emitted)
  const { resume } = state.start
  const waiting = resume === undefined ? [] : [get('waiting', `/api/session/${id}/inbox`)]
  return send([...waiting, ...instructions(state, id), ...askLists(state).writes], emitted)
}

/** Text that is added to the system prompt of this session. */
function instructions({ start, opening }: OpencodeState, id: string): Write[] {
  const value = start.options.systemPrompt?.append
  if (value === undefined) return []
  const root = opening.api === 'preview' ? '/api/session' : '/api/experimental/session'
  const path = `${root}/${id}/instructions/entries/mainstem`
  return [{ kind: 'http', method: 'PUT', path, tag: 'instructions', body: { value } }]
}

/** Prompts of an earlier process that the model never read: the server would deliver them with the next one. */
export function removeWaiting({ root }: OpencodeState, body: Fields): Decoded {
  const ids = objects(body, 'data').flatMap((item) => text(item, 'id') ?? [])
  const own = ids.filter((id) => OUTSIDE_ID.test(id) && isOwnPrompt(id))
  return root ? send(own.map((id) => inboxRemoval(root.id, id))) : nothing
}

export function openFailed(state: OpencodeState, failure: Failure): Decoded {
  state.opening.failure = failure
  state.opening.waiting = undefined
  return emitAll(endTurn(state, { failure }))
}

/** Requests the list that is still incomplete. The lists of a directory are empty until it has loaded. */
export function askLists(state: OpencodeState): Decoded {
  const { opening, root } = state
  if (!root || !opening.driven || isReady(state)) return nothing
  if (opening.asking !== 'no') {
    opening.asking = 'again'
    return nothing
  }
  opening.asking = 'yes'
  const list = opening.hasAgents ? 'mcp' : 'agent'
  const directory = encodeURIComponent(state.start.cwd)
  return send([get(list, `/api/${list}?location%5Bdirectory%5D=${directory}`)])
}

export function isReady({ root, opening }: OpencodeState): boolean {
  return opening.failure !== undefined || (root !== undefined && opening.hasAgents && opening.hasServers)
}

export function listed(state: OpencodeState, tag: 'agent' | 'mcp', body: Fields): Decoded {
  const { opening } = state
  const items = objects(body, 'data')
  const isAgain = opening.asking === 'again'
  opening.asking = 'no'
  const emitted: Emitted[] = []
  let isNext = isAgain
  if (tag === 'agent' && items.length > 0) {
    opening.hasAgents = true
    isNext = true
  } else if (tag === 'mcp') {
    opening.hasServers = areConnected(state, items)
    if (opening.hasServers) emitted.push(...items.flatMap(failedServer))
  }
  if (!isReady(state)) return send(isNext ? askLists(state).writes : [], emitted)
  const { waiting } = opening
  opening.waiting = undefined
  if (!waiting) return emitAll(emitted)
  return send(sendPrompt(state, waiting).writes, emitted)
}

const CONNECTING = /^(?:pending|connecting|starting|initiali[sz]ing|loading)$/

/** Every configured server has been tried. */
function areConnected({ mcpServers }: OpencodeState, items: readonly Fields[]): boolean {
  const names = new Set(items.map((item) => text(item, 'name')))
  if (mcpServers.some((name) => !names.has(name))) return false
  return items.every((item) => !CONNECTING.test(text(fields(item, 'status'), 'status') ?? 'pending'))
}

function failedServer(item: Fields): Emitted[] {
  const status = fields(item, 'status')
  const word = text(status, 'status') ?? ''
  if (word === 'connected' || word === 'disabled') return []
  const why = text(status, 'error') ?? text(status, 'message')
  const message = `MCP server ${text(item, 'name') ?? '?'}: ${word}${why === undefined ? '' : `: ${why}`}`
  return [{ type: 'notice.raised', level: 'warning', code: 'agent_warning', message, data: item }]
}
