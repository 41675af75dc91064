import type { Frame } from '../../framing/frame.ts'
import type { NoticeCode } from '../../model/events/report.ts'
import type { Named } from '../../model/events/session.ts'
import type { AnswerCommand, Command, Question } from '../../model/index.ts'
import type { Decoded, Write } from '../agent.ts'
import { emit, emitAll, line, nextProcess, nothing, refuse, send, unmapped } from '../decoded.ts'
import { compact, type Fields, fields, flag, isFields, list, text } from '../fields.ts'
import { isSamePolicy } from '../option.ts'
import { closeRequest, openRequest, withdrawRequest } from '../requests.ts'
import { openToolId, refuseTool, toolIdOf } from '../tools.ts'
import { serversInInitialize, serversRefused } from './mcp.ts'
import { BYPASS_MODE, permissionMode, startMode } from './permission-mode.ts'
import { grantsOf, optionsFor, scopeOf } from './permissions.ts'
import { type Ask, openTurn, type State } from './state.ts'
import { update } from './system.ts'
import { EXIT_PLAN, kindOf, locationsOf } from './tools.ts'

/** The tool by which Claude asks a person a question. */
const QUESTION = 'AskUserQuestion'

/** Decodes requests of the agent: tool permissions, questions and hook callbacks. */
export function decodeControlRequest(state: State, native: Fields, raw: string): Decoded {
  const nativeId = text(native, 'request_id') ?? ''
  const request = fields(native, 'request')
  switch (text(request, 'subtype')) {
    case 'can_use_tool':
      // A repeated request with an open id is the same request.
      return state.asks.has(requestIdOf(state, nativeId)) ? nothing : emit(ask(state, nativeId, request))
    case 'hook_callback':
      // We register no hooks; allows one that another client registered.
      return send([line(controlMessage(nativeId, {}))])
    default: {
      const type = `control_request/${text(request, 'subtype') ?? '?'}`
      return { ...unmapped(type, raw), writes: [controlError(nativeId, `unsupported: ${type}`)] }
    }
  }
}

function requestIdOf(state: State, nativeId: string): string {
  return `e${state.start.epoch}.${nativeId}`
}

function ask(state: State, nativeId: string, request: Fields) {
  const tool = text(request, 'tool_name') ?? '?'
  const { input } = request
  const callId = text(request, 'tool_use_id')
  const toolId = callId === undefined ? undefined : toolIdOf(state.ledger, callId)
  const suggestions = list(request, 'permission_suggestions')
  const requestId = requestIdOf(state, nativeId)
  state.asks.set(requestId, { nativeId, tool, toolId, input, suggestions })
  const subject = state.plan !== undefined && state.plan.toolId === callId ? state.plan.input : input
  const kind = tool === QUESTION ? 'question' : tool === EXIT_PLAN ? 'plan' : 'permission'
  const title = text(request, 'description') ?? text(request, 'display_name')
  const locations = locationsOf(input, text(request, 'blocked_path'))
  return openRequest(state.ledger, {
    requestId,
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
  })
}

function parentOf(state: State, toolId: string | undefined): { parent?: string } {
  const parent = toolId === undefined ? undefined : state.ledger.tools.get(toolId)?.parent
  return parent === undefined ? {} : { parent }
}

function questionsOf(input: unknown): Question[] {
  if (!isFields(input)) return []
  return list(input, 'questions')
    .filter(isFields)
    .map((question) => ({
      // Claude identifies answers by the text of the question.
      id: text(question, 'question') ?? '',
      ...compact({ header: text(question, 'header') }),
      text: text(question, 'question') ?? '',
      options: list(question, 'options')
        .filter(isFields)
        .map((option) => ({
          label: text(option, 'label') ?? '',
          ...compact({ description: text(option, 'description') }),
        })),
      ...(flag(question, 'multiSelect') && { multiple: true }),
      other: true,
    }))
}

export function decodeControlCancel(state: State, native: Fields): Decoded {
  const requestId = requestIdOf(state, text(native, 'request_id') ?? '')
  state.asks.delete(requestId)
  const reason = state.interrupting ? 'interrupted' : 'agent'
  return emitAll(withdrawRequest(state.ledger, requestId, reason))
}

/** Decodes the response to our command; reports a rejection and the available models. */
export function decodeControlResponse(state: State, native: Fields): Decoded {
  const response = fields(native, 'response')
  const id = text(response, 'request_id') ?? ''
  const command = state.commands.get(id)
  state.commands.delete(id)
  state.interrupts.delete(id)
  if (text(response, 'subtype') !== 'error') {
    if (command !== 'initialize') return nothing
    const answer = fields(response, 'response')
    return emitAll([...update(state, { models: modelsOf(answer) }), ...serversRefused(state.start, answer)])
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
export function encodeLive(state: State, command: Command): Decoded {
  switch (command.type) {
    case 'open':
      return control(state, {
        subtype: 'initialize',
        ...compact({ mcpServers: serversInInitialize(state.start) }),
      })
    case 'prompt':
      return write(state, userMessage(command.text, command.promptId, command.images))
    case 'steer':
      if (!state.turnOpen) return refuse('conflict', 'there is no open turn to steer')
      return write(state, userMessage(command.text, command.promptId))
    case 'interrupt':
      return control(state, { subtype: 'interrupt' })
    case 'answer':
      return answer(state, command)
    case 'set_model':
      return control(state, { subtype: 'set_model', model: command.model ?? DEFAULT_MODEL })
    case 'set_policy':
      return setPolicy(state, command)
    case 'close':
      return send([{ kind: 'end' }])
    default:
      return command satisfies never
  }
}

/** Claude's name for the default model. */
const DEFAULT_MODEL = 'default'

/** Approval and sandbox map to a permission mode; the rest of a policy is set on the command line. */
function setPolicy(state: State, { policy, mode }: Extract<Command, { type: 'set_policy' }>): Decoded {
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

function control(state: State, request: Fields): Decoded {
  return write(state, { type: 'control_request', request_id: `c${++state.commandCount}`, request })
}

function write(state: State, message: Fields): Decoded {
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

function answer(state: State, command: AnswerCommand): Decoded {
  const asked = state.asks.get(command.requestId)
  if (!asked) return refuse('request_not_found', `claude has no open request ${command.requestId}`)
  if (command.decision === 'deny') return deny(state, asked, command)
  // Allowing a question would answer it with nothing, and answering a permission would allow it unread.
  if ((command.decision === 'answered') !== (asked.tool === QUESTION))
    return refuse('invalid_request', `decision: "${command.decision}" does not fit what ${asked.tool} asks`)
  return command.decision === 'answered'
    ? answerQuestion(state, asked, command)
    : allow(state, asked, command)
}

function deny(state: State, asked: Ask, command: AnswerCommand): Decoded {
  const message = command.message ?? 'The user refused this.'
  const interrupt = command.interrupt && { interrupt: true }
  const step = respond(state, asked, { behavior: 'deny', message, ...interrupt })
  // Claude reports us as the user; only this side knows who decided.
  if (asked.toolId !== undefined) refuseTool(state.ledger, asked.toolId, command.by ?? 'person')
  return step
}

function answerQuestion(state: State, asked: Ask, command: AnswerCommand): Decoded {
  const answers = Object.entries(command.answers ?? {})
    .map(
      ([question, labels]) => [question, labels.filter((label) => label.trim() !== '').join(', ')] as const,
    )
    .filter(([, joined]) => joined !== '')
  if (answers.length === 0) return refuse('invalid_request', 'answers: an answer must not be empty')
  const updatedInput = { ...inputOf(asked), answers: Object.fromEntries(answers) }
  return respond(state, asked, { behavior: 'allow', updatedInput })
}

function allow(state: State, asked: Ask, command: AnswerCommand): Decoded {
  const granted = grantsOf(asked.suggestions, command.scope)
  const updatedInput = command.input ?? inputOf(asked)
  const permissions = granted.length > 0 && { updatedPermissions: granted }
  const step = respond(state, asked, { behavior: 'allow', updatedInput, ...permissions })
  const toolId = asked.toolId === undefined ? undefined : openToolId(state.ledger, asked.toolId)
  if (command.input === undefined || toolId === undefined) return step
  return send(step.writes, [{ type: 'tool.updated', toolId, input: command.input }])
}

/** The input of the request, which the answer must repeat. */
function inputOf({ input }: Ask): Fields {
  return isFields(input) ? input : {}
}

function respond(state: State, { nativeId }: Ask, response: Fields): Decoded {
  return write(state, controlMessage(nativeId, response))
}

function controlMessage(nativeId: string, response: Fields): Fields {
  return { type: 'control_response', response: { subtype: 'success', request_id: nativeId, response } }
}

function controlError(nativeId: string, error: string): Write {
  return line({ type: 'control_response', response: { subtype: 'error', request_id: nativeId, error } })
}

export function sentLive(state: State, frame: Frame): Command | undefined {
  return isFields(frame.value) ? applySent(state, frame.value) : undefined
}

/** Updates the state for a line sent to the agent; both `encode` and transcripts use it. */
function applySent(state: State, message: Fields): Command | undefined {
  switch (text(message, 'type')) {
    case 'user':
      return noteUser(state, message)
    case 'control_request': {
      const request = fields(message, 'request')
      const subtype = text(request, 'subtype') ?? '?'
      const id = text(message, 'request_id') ?? ''
      state.commands.set(id, subtype)
      if (subtype !== 'interrupt') return undefined
      state.interrupting = state.turnOpen
      if (state.turnOpen) state.interrupts.add(id)
      return { type: 'interrupt' }
    }
    case 'control_response':
      return applyAnswer(state, fields(message, 'response'))
    default:
      return undefined
  }
}

function noteUser(state: State, message: Fields): Command {
  const content = fields(message, 'message').content
  const prompt =
    typeof content === 'string'
      ? content
      : list(fields(message, 'message'), 'content')
          .map((block) => (isFields(block) ? (text(block, 'text') ?? '') : ''))
          .join('')
  const promptId = text(message, 'uuid')
  const named = { text: prompt, ...(promptId !== undefined && { promptId }) }
  if (state.turnOpen) {
    state.steers.push({ text: prompt, promptId, passed: false })
    return { type: 'steer', ...named }
  }
  openTurn(state, 'sent', promptId)
  state.waiting = { text: prompt, promptId, passed: false }
  return { type: 'prompt', ...named }
}

function applyAnswer(state: State, response: Fields): Command | undefined {
  const requestId = requestIdOf(state, text(response, 'request_id') ?? '')
  const asked = state.asks.get(requestId)
  // A failed answer is not a denial: the call fails, and the request ends with the turn.
  if (text(response, 'subtype') === 'error') return undefined
  if (!asked || !closeRequest(state.ledger, requestId)) return undefined
  state.asks.delete(requestId)
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
  const rewritten = updatedInput !== undefined && JSON.stringify(updatedInput) !== JSON.stringify(asked.input)
  return { type: 'answer', requestId, decision: 'allow', scope, ...(rewritten && { input: updatedInput }) }
}
