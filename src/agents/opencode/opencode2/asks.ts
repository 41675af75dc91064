import {
  type AnswerCommand,
  type Decision,
  type Location,
  OUTSIDE_ID,
  type Question,
  type RequestOption,
} from '../../../model/index.ts'
import type { Decoded, Emitted } from '../../agent.ts'
import { emitAll, nothing, send, skipped, unmapped } from '../../kit/decoded.ts'
import { compact, type Fields, fields, flag, objects, text, texts } from '../../kit/fields.ts'
import { askOf, requestIdOf, withdrawRequest } from '../../kit/requests.ts'
import { ONCE, openAsk, REJECT, type RequestParts, refuseAsked, withdrawalOf } from '../asks.ts'
import { threadOf } from '../threads.ts'
import { releaseAll } from './blocks.ts'
import { askedCall } from './calls.ts'
import { isGranted, permissionReply } from './replies.ts'
import type { Ask, OpencodeState } from './state.ts'
import type { Thread } from './thread.ts'
import { absolute, kindOf } from './tools.ts'

/** OpenCode would store "always" for the project; this approval ends with the process. */
function sessionOption(patterns: readonly string[]): RequestOption {
  const unique = [...new Set(patterns)].join(', ')
  return { id: 'session', label: `Allow ${unique} for this session`, effect: 'allow', scope: 'session' }
}

/** Forms of MCP servers may belong to no session. Only we use this server, so they belong to ours. */
export const GLOBAL = 'global'

export function threadOfSession({ root, threads }: OpencodeState, id: string): Thread | undefined {
  return id === GLOBAL ? root : threads.get(id)
}

/** A permission request. One that an approval for the session covers is answered at once. */
export function permissionAsked(state: OpencodeState, data: Fields, raw: string): Decoded {
  const session = text(data, 'sessionID') ?? ''
  const thread = threadOfSession(state, session)
  if (!thread) return skipped
  const nativeId = text(data, 'id') ?? ''
  // The id becomes part of a path in the answer.
  if (!OUTSIDE_ID.test(nativeId)) return unmapped('permission.asked', raw)
  const released = releaseAll(state, thread)
  const source = fields(data, 'source')
  const callId = text(source, 'type') === 'tool' ? text(source, 'id') : undefined
  const call = callId === undefined ? undefined : askedCall(state, thread, callId)
  const files = objects(fields(data, 'metadata'), 'files')
  if (call && files.length > 0) call.proposed = files
  if (isGranted(state, data)) {
    return send([permissionReply(state, session, nativeId, 'once')], released)
  }
  const ask: Ask = { nativeId, kind: 'permission', session, thread, toolId: call?.toolId, native: data }
  return emitAll([...released, ...openAsk(state, thread, ask, permissionIn(state, data, files))])
}

/** A question of the model, or a form of an MCP server. */
export function formCreated(state: OpencodeState, data: Fields, raw: string): Decoded {
  const form = fields(data, 'form')
  const session = text(form, 'sessionID') ?? ''
  const thread = threadOfSession(state, session)
  if (!thread) return skipped
  const nativeId = text(form, 'id') ?? ''
  if (!OUTSIDE_ID.test(nativeId)) return unmapped('form.created', raw)
  const released = releaseAll(state, thread)
  const callId = text(fields(fields(form, 'metadata'), 'tool'), 'id')
  const toolId = callId === undefined ? undefined : askedCall(state, thread, callId).toolId
  const ask: Ask = { nativeId, kind: 'question', session, thread, toolId, native: form }
  return emitAll([...released, ...openAsk(state, thread, ask, questionsIn(form))])
}

function permissionIn(state: OpencodeState, data: Fields, files: readonly Fields[]): RequestParts {
  const action = text(data, 'action') ?? '?'
  const resources = texts(data, 'resources') ?? []
  const save = texts(data, 'save') ?? []
  const paths = files.flatMap((file) => text(file, 'file') ?? [])
  const locations: Location[] = paths.map((path) => ({ path: absolute(path, state.start.cwd) }))
  const { metadata } = data
  return {
    tool: action,
    ...permissionKind(state, action, data),
    ...(locations.length > 0 && { locations }),
    title: resources.join(', ') || action,
    data: { action, resources, save, ...(metadata !== undefined && { metadata }) },
    options: save.length === 0 ? [ONCE, REJECT] : [ONCE, sessionOption(save), REJECT],
  }
}

/** One permission covers all tools that change files. */
const FILE_TOOLS: ReadonlySet<string> = new Set(['edit', 'write', 'patch'])

/** The kind of the call, and the permission if it is not that of its tool, such as `external_directory`. */
function permissionKind(
  state: OpencodeState,
  action: string,
  data: Fields,
): Pick<RequestParts, 'toolKind' | 'permission'> {
  const thread = threadOf(state, data)
  const callId = text(fields(data, 'source'), 'id')
  const call = thread && callId !== undefined ? askedCall(state, thread, callId) : undefined
  const name = call?.name ?? '?'
  const isOwn = name === '?' || action === name || (action === 'edit' && FILE_TOOLS.has(name))
  const toolKind = kindOf(isOwn ? action : name, state.mcpServers)
  return isOwn ? { toolKind } : { toolKind, permission: action }
}

function questionsIn(form: Fields): RequestParts {
  const title = text(form, 'title')
  return {
    tool: 'question',
    ...compact({ title }),
    options: [{ ...REJECT, label: 'Dismiss' }],
    questions: objects(form, 'fields').filter(isShown).map(questionOf),
  }
}

function isShown(field: Fields): boolean {
  return !flag(field, 'hidden')
}

function questionOf(field: Fields, index: number): Question {
  const header = text(field, 'title')
  const options = objects(field, 'options').map((option) => ({
    label: text(option, 'label') ?? text(option, 'value') ?? '',
    ...compact({ description: text(option, 'description') }),
  }))
  return {
    id: text(field, 'key') ?? String(index),
    ...compact({ header }),
    text: text(field, 'description') ?? header ?? '',
    options: text(field, 'type') === 'boolean' ? [{ label: 'true' }, { label: 'false' }] : options,
    ...(text(field, 'type') === 'multiselect' && { multiple: true }),
    other: flag(field, 'custom') || (options.length === 0 && text(field, 'type') !== 'boolean'),
  }
}

/** Our answers close their requests, so another client decided this one, or it followed from our answer to another. */
export function permissionReplied(state: OpencodeState, data: Fields): Decoded {
  const decision = text(data, 'reply') === 'reject' ? 'deny' : 'allow'
  return loseAsk(state, text(data, 'requestID') ?? '', decision)
}

export function formReplied(state: OpencodeState, data: Fields): Decoded {
  return loseAsk(state, text(data, 'id') ?? '', 'answered')
}

/** Dismissed, or cancelled with its execution: the end of the call tells which. */
export function formCancelled(state: OpencodeState, data: Fields): Decoded {
  return loseAsk(state, text(data, 'id') ?? '', 'deny')
}

function loseAsk(state: OpencodeState, nativeId: string, decision: Decision): Decoded {
  const requestId = requestIdOf(state.start, nativeId)
  const ask = askOf(state.ledger, requestId)
  if (!ask) return nothing
  const isAborted = state.turn?.aborted === true && decision === 'deny'
  if (decision === 'deny' && !isAborted && ask.kind === 'permission') refuseAsked(state, ask, 'person')
  return emitAll(withdrawRequest(state.ledger, requestId, withdrawalOf(ask, decision, isAborted), decision))
}

/** Without a message, a denial rejects the other open requests of its session too. */
export function noteRejection(state: OpencodeState, ask: Ask, { message }: AnswerCommand): void {
  if (message !== undefined && ask.kind === 'permission') return
  for (const { ask: other } of state.ledger.requests.values()) {
    if (other.thread === ask.thread) other.follows = 'deny'
  }
}

/** Withdraws the requests that the server no longer has. */
export function withdrawOthers(
  state: OpencodeState,
  kind: Ask['kind'],
  session: string,
  listed: readonly Fields[],
): Emitted[] {
  const known = new Set(listed.map((one) => text(one, 'id')))
  const emitted: Emitted[] = []
  for (const [requestId, { ask }] of state.ledger.requests) {
    if (ask.kind !== kind || ask.session !== session || known.has(ask.nativeId)) continue
    emitted.push(...withdrawRequest(state.ledger, requestId, 'answered_elsewhere'))
  }
  return emitted
}
