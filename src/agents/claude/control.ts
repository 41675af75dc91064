import type { Frame } from '../../framing/frame.ts'
import type { NoticeCode } from '../../model/events/report.ts'
import type { Named } from '../../model/events/session.ts'
import type { AnswerCommand, Command } from '../../model/index.ts'
import type { Decoded, Write } from '../agent.ts'
import { emit, emitAll, line, nextProcess, nothing, refuse, send, unmapped } from '../kit/decoded.ts'
import { compact, type Fields, fields, isFields, list, sameValue, text } from '../kit/fields.ts'
import { updateSession } from '../kit/known.ts'
import type { NewRequest } from '../kit/ledger.ts'
import { isSamePolicy } from '../kit/option.ts'
import {
  askOf,
  closeRequest,
  denierOf,
  openRequest,
  requestIdOf,
  withDenialNotice,
  withdrawRequest,
} from '../kit/requests.ts'
import { encoder } from '../kit/rules.ts'
import { openToolId, refuseTool, toolIdOf } from '../kit/tools.ts'
import { serversInInitialize, serversRefused } from './mcp.ts'
import { BYPASS_MODE, permissionMode, startMode } from './permission-mode.ts'
import { grantsOf, optionsFor, scopeOf } from './permissions.ts'
import { QUESTION, questionsOf } from './questions.ts'
import { decodeRewind, noteRewind, rewindRequest } from './rewind.ts'
import { type ClaudeAsk, type ClaudeState, openTurn } from './state.ts'
import { EXIT_PLAN, kindOf, locationsOf } from './tools.ts'

/** Marks a request whose input has large values: the frame only refers to them. */
export function markAbridged(state: ClaudeState, native: Fields): void {
  const asked = askOf(state.ledger, requestIdOf(state.start, text(native, 'request_id') ?? ''))
  if (asked) asked.isAbridged = true
}

/** Decodes requests of the agent: tool permissions, questions and hook callbacks. */
export function decodeControlRequest(state: ClaudeState, native: Fields, raw: string): Decoded {
  const nativeId = text(native, 'request_id') ?? ''
  const request = fields(native, 'request')
  switch (text(request, 'subtype')) {
    case 'can_use_tool':
      return emitAll(ask(state, nativeId, request))
    case 'hook_callback':
      // We register no hooks; allows one that another client registered.
      return send([line(controlMessage(nativeId, {}))])
    default: {
      const type = `control_request/${text(request, 'subtype') ?? '?'}`
      return { ...unmapped(type, raw), writes: [controlError(nativeId, `unsupported: ${type}`)] }
    }
  }
}

function ask(state: ClaudeState, nativeId: string, request: Fields) {
  const tool = text(request, 'tool_name') ?? '?'
  const { input } = request
  const callId = text(request, 'tool_use_id')
  const toolId = callId === undefined ? undefined : toolIdOf(state.ledger, callId)
  const suggestions = list(request, 'permission_suggestions')
  const asked: ClaudeAsk = { nativeId, tool, toolId, input, suggestions }
  const subject =
    state.turn.plan !== undefined && state.turn.plan.toolId === callId ? state.turn.plan.input : input
  const kind = tool === QUESTION ? 'question' : tool === EXIT_PLAN ? 'plan' : 'permission'
  const title = text(request, 'description') ?? text(request, 'display_name')
  const locations = locationsOf(input, text(request, 'blocked_path'))
  const opened: NewRequest = {
    requestId: requestIdOf(state.start, nativeId),
    kind,
    blocking: true,
    tool,
    toolKind: kindOf(tool),
    ...(locations.length > 0 && { locations }),
    ...compact({ toolId, title }),
    ...(subject !== undefined && { input: subject }),
    // A question is answered, not allowed.
    options: kind === 'question' ? [] : optionsFor(suggestions),
    ...(kind === 'question' && { questions: questionsOf(input) }),
    ...parentOf(state, toolId),
  }
  return openRequest(state.ledger, opened, asked)
}

function parentOf(state: ClaudeState, toolId: string | undefined): { parent?: string } {
  const parent = toolId === undefined ? undefined : state.ledger.tools.get(toolId)?.parent
  return parent === undefined ? {} : { parent }
}

export function decodeControlCancel(state: ClaudeState, native: Fields): Decoded {
  const requestId = requestIdOf(state.start, text(native, 'request_id') ?? '')
  const reason = state.turn.interrupting ? 'interrupted' : 'agent'
  return emitAll(withdrawRequest(state.ledger, requestId, reason))
}

/** Decodes the response to our command; reports a rejection and the available models. */
export function decodeControlResponse(state: ClaudeState, native: Fields): Decoded {
  const response = fields(native, 'response')
  const id = text(response, 'request_id') ?? ''
  const command = state.calls.take(id)
  if (command === 'rewind_files') {
    const step = decodeRewind(state, response, fields(response, 'response'))
    return 'ended' in step ? step.ended : control(state, rewindRequest(step.next, false))
  }
  if (text(response, 'subtype') !== 'error') {
    if (command !== 'initialize') return nothing
    const answer = fields(response, 'response')
    return emitAll([
      ...updateSession(state, { models: modelsOf(answer) }),
      ...serversRefused(state.start, answer),
    ])
  }
  return emit({
    type: 'notice.raised',
    level: 'warning',
    code: refusalCode(command),
    message: text(response, 'error') ?? 'refused',
    data: compact({ command, code: text(response, 'error_code') }),
  })
}

function modelsOf(answer: Fields): Named[] | undefined {
  const models = list(answer, 'models').filter(isFields)
  if (models.length === 0) return undefined
  return models.map((model) => ({
    id: text(model, 'value') ?? '?',
    ...compact({ name: text(model, 'displayName'), description: text(model, 'description') }),
  }))
}

function refusalCode(command: string | undefined): NoticeCode {
  if (command === 'interrupt') return 'interrupt_refused'
  return command === 'set_permission_mode' || command === 'set_model' ? 'mode_refused' : 'protocol_refused'
}

/** Encodes commands as JSON lines; a line that is not JSON would terminate the process. */
export const encodeLive = encoder<ClaudeState>({
  open: (state) =>
    control(state, { subtype: 'initialize', ...compact({ mcpServers: serversInInitialize(state.start) }) }),
  prompt(state, { text, promptId, images, rewindTo }) {
    if (rewindTo !== undefined) return control(state, rewindRequest(rewindTo, true))
    return write(state, userMessage(text, promptId, images))
  },
  steer(state, { text, promptId }) {
    if (!state.turn.open) return refuse('conflict', 'there is no open turn to steer')
    return write(state, userMessage(text, promptId))
  },
  interrupt: (state) => control(state, { subtype: 'interrupt' }),
  answer,
  set_model: (state, { model }) => control(state, { subtype: 'set_model', model: model ?? DEFAULT_MODEL }),
  set_policy: setPolicy,
})

/** Claude's name for the default model. */
const DEFAULT_MODEL = 'default'

/** Approval and sandbox map to a permission mode; the rest of a policy is set on the command line. */
function setPolicy(state: ClaudeState, { policy, mode }: Extract<Command, { type: 'set_policy' }>): Decoded {
  if (mode !== undefined) return control(state, { subtype: 'set_permission_mode', mode })
  if (!policy) return refuse('invalid_request', 'either a policy or a mode is required')
  const started = state.start.policy
  if (!isSamePolicy(started, policy, 'approval', 'sandbox')) return nextProcess
  const wanted = permissionMode(policy)
  // Claude bypasses permissions only if it was started in that mode.
  if (wanted === BYPASS_MODE && startMode(state.start) !== BYPASS_MODE) return nextProcess
  return control(state, { subtype: 'set_permission_mode', mode: wanted })
}

/** The prompt of a one-turn process, if it has images. */
export function encodeWithImages({ text, images }: Extract<Command, { type: 'prompt' }>): Decoded {
  return send([line(userMessage(text, undefined, images)), { kind: 'end' }])
}

function control(state: ClaudeState, request: Fields): Decoded {
  return write(state, { type: 'control_request', request_id: `c${state.calls.next()}`, request })
}

function write(state: ClaudeState, message: Fields): Decoded {
  applySent(state, message)
  return send([line(message)])
}

function userMessage(
  prompt: string,
  promptId?: string,
  images: readonly { mimeType: string; data: string }[] = [],
) {
  const blocks: unknown[] = images.map((image) => ({
    type: 'image',
    source: { type: 'base64', media_type: image.mimeType, data: image.data },
  }))
  return {
    type: 'user',
    message: { role: 'user', content: [...blocks, { type: 'text', text: prompt }] },
    parent_tool_use_id: null,
    session_id: '',
    ...(promptId !== undefined && { uuid: promptId }),
  }
}

function answer(state: ClaudeState, command: AnswerCommand): Decoded {
  const asked = askOf(state.ledger, command.requestId)
  if (!asked) return refuse('request_not_found', `claude has no open request ${command.requestId}`)
  const { decision } = command
  // Allowing a question would answer it with nothing, and answering a permission would allow it unread.
  if (decision === (asked.tool === QUESTION ? 'allow' : 'answered'))
    return refuse('invalid_request', `decision: "${decision}" does not fit what ${asked.tool} asks`)
  if (decision === 'answered') return answerQuestion(state, asked, command)
  return decision === 'allow' ? allow(state, asked, command) : deny(state, asked, command)
}

function deny(state: ClaudeState, asked: ClaudeAsk, command: AnswerCommand): Decoded {
  const message = command.message ?? 'The user refused this.'
  const interrupt = command.interrupt && { interrupt: true }
  const step = respond(state, asked, { behavior: 'deny', message, ...interrupt })
  // Claude reports us as the user; only this side knows who decided.
  if (asked.toolId !== undefined) refuseTool(state.ledger, asked.toolId, denierOf(command))
  return withDenialNotice(step, command)
}

function answerQuestion(state: ClaudeState, asked: ClaudeAsk, command: AnswerCommand): Decoded {
  const answers = Object.entries(command.answers ?? {})
    .map(
      ([question, labels]) => [question, labels.filter((label) => label.trim() !== '').join(', ')] as const,
    )
    .filter(([, joined]) => joined !== '')
  if (answers.length === 0) return refuse('invalid_request', 'answers: an answer must not be empty')
  const updatedInput = { ...inputOf(asked), answers: Object.fromEntries(answers) }
  return respond(state, asked, { behavior: 'allow', updatedInput })
}

function allow(state: ClaudeState, asked: ClaudeAsk, command: AnswerCommand): Decoded {
  const granted = grantsOf(asked.suggestions, command.scope)
  // Without an input the call runs with its own, which an abridged request does not have.
  const input = command.input ?? (asked.isAbridged ? undefined : inputOf(asked))
  const updatedInput = input !== undefined && { updatedInput: input }
  const permissions = granted.length > 0 && { updatedPermissions: granted }
  const step = respond(state, asked, { behavior: 'allow', ...updatedInput, ...permissions })
  const toolId = asked.toolId === undefined ? undefined : openToolId(state.ledger, asked.toolId)
  if (command.input === undefined || toolId === undefined) return step
  return send(step.writes, [{ type: 'tool.updated', toolId, input: command.input }])
}

/** The input of the request, which the answer must repeat. */
function inputOf({ input }: ClaudeAsk): Fields {
  return isFields(input) ? input : {}
}

function respond(state: ClaudeState, { nativeId }: ClaudeAsk, response: Fields): Decoded {
  return write(state, controlMessage(nativeId, response))
}

function controlMessage(nativeId: string, response: Fields): Fields {
  return { type: 'control_response', response: { subtype: 'success', request_id: nativeId, response } }
}

function controlError(nativeId: string, error: string): Write {
  return line({ type: 'control_response', response: { subtype: 'error', request_id: nativeId, error } })
}

export function sentLive(state: ClaudeState, frame: Frame): Command | undefined {
  return isFields(frame.value) ? applySent(state, frame.value) : undefined
}

/** Updates the state for a line sent to the agent; both `encode` and transcripts use it. */
function applySent(state: ClaudeState, message: Fields): Command | undefined {
  switch (text(message, 'type')) {
    case 'user':
      return noteUser(state, message)
    case 'control_request': {
      const request = fields(message, 'request')
      const subtype = text(request, 'subtype') ?? '?'
      const id = text(message, 'request_id') ?? ''
      state.calls.add(id, subtype)
      if (subtype === 'rewind_files' && noteRewind(state, request)) return { type: 'prompt', text: '/rewind' }
      if (subtype !== 'interrupt') return undefined
      state.turn.interrupting = state.turn.open
      if (state.turn.open) state.calls.interrupt(id)
      return { type: 'interrupt' }
    }
    case 'control_response':
      return applyAnswer(state, fields(message, 'response'))
    default:
      return undefined
  }
}

function noteUser(state: ClaudeState, message: Fields): Command {
  const content = fields(message, 'message').content
  const prompt =
    typeof content === 'string'
      ? content
      : list(fields(message, 'message'), 'content')
          .map((block) => (isFields(block) ? (text(block, 'text') ?? '') : ''))
          .join('')
  const promptId = text(message, 'uuid')
  const named = { text: prompt, ...(promptId !== undefined && { promptId }) }
  if (state.turn.open) {
    state.steers.push({ text: prompt, promptId, passed: false })
    return { type: 'steer', ...named }
  }
  openTurn(state, 'sent', promptId)
  state.turn.waiting = { text: prompt, promptId, passed: false }
  return { type: 'prompt', ...named }
}

function applyAnswer(state: ClaudeState, response: Fields): Command | undefined {
  const requestId = requestIdOf(state.start, text(response, 'request_id') ?? '')
  // A failed answer is not a denial: the call fails, and the request ends with the turn.
  if (text(response, 'subtype') === 'error') return undefined
  const asked = closeRequest(state.ledger, requestId)
  if (!asked) return undefined
  const body = fields(response, 'response')
  if (text(body, 'behavior') !== 'allow') {
    if (asked.toolId !== undefined) refuseTool(state.ledger, asked.toolId, 'person')
    return { type: 'answer', requestId, decision: 'deny', ...compact({ message: text(body, 'message') }) }
  }
  const { updatedInput } = body
  if (asked.tool === QUESTION) {
    const given = Object.entries(isFields(updatedInput) ? fields(updatedInput, 'answers') : {})
    const answers = given.map(([question, chosen]) => [
      question,
      [typeof chosen === 'string' ? chosen : JSON.stringify(chosen)],
    ])
    return { type: 'answer', requestId, decision: 'answered', answers: Object.fromEntries(answers) }
  }
  const scope = scopeOf(list(body, 'updatedPermissions'))
  const rewritten = updatedInput !== undefined && !sameValue(updatedInput, asked.input)
  return {
    type: 'answer',
    requestId,
    decision: 'allow',
    scope,
    ...(rewritten && isFields(updatedInput) && { input: updatedInput }),
  }
}
