import type { Frame } from '../../framing/frame.ts'
import type { AnswerCommand, Command, Question, RequestOption } from '../../model/index.ts'
import type { Step, Write } from '../agent.ts'
import { compact, type Fields, fields, flag, isFields, list, text } from '../fields.ts'
import { closeRequest, openRequest, refuseTool, withdrawRequest } from '../ledger.ts'
import { line, nothing, refuse, say, sayAll, send, unmapped } from '../step.ts'
import type { State } from './state.ts'

/** The agent asks us: may a tool run, what does a person answer, what does a hook say. */
export function decodeControlRequest(state: State, native: Fields, raw: string): Step {
  const nativeId = text(native, 'request_id') ?? ''
  const request = fields(native, 'request')
  switch (text(request, 'subtype')) {
    case 'can_use_tool':
      return say(ask(state, nativeId, request))
    case 'hook_callback':
      // We register no hooks; one that was registered elsewhere is let through.
      return send([controlResponse(nativeId, {})])
    default: {
      const type = `control_request/${text(request, 'subtype') ?? '?'}`
      return { ...unmapped(type, raw), writes: [controlError(nativeId, `unsupported: ${type}`)] }
    }
  }
}

function ask(state: State, nativeId: string, request: Fields) {
  const tool = text(request, 'tool_name') ?? '?'
  const { input } = request
  const toolId = text(request, 'tool_use_id')
  const suggestions = list(request, 'permission_suggestions')
  const requestId = `e${state.start.epoch}.${nativeId}`
  state.asks.set(requestId, { nativeId, tool, toolId, input, suggestions })
  const kind = tool === 'AskUserQuestion' ? 'question' : tool === 'ExitPlanMode' ? 'plan' : 'permission'
  const title = text(request, 'description') ?? text(request, 'display_name')
  return openRequest(state.ledger, {
    requestId,
    kind,
    blocking: true,
    tool,
    ...compact({ toolId, title }),
    ...(input !== undefined && { input }),
    options: optionsFor(suggestions),
    ...(kind === 'question' && { questions: questionsOf(input) }),
    ...parentOf(state, toolId),
  })
}

function parentOf(state: State, toolId: string | undefined): { parent?: string } {
  const parent = toolId === undefined ? undefined : state.ledger.tools.get(toolId)?.parent
  return parent === undefined ? {} : { parent }
}

/** A suggestion for the local settings is written into the project, so it is offered as "always", never as less. */
function optionsFor(suggestions: readonly unknown[]): RequestOption[] {
  const to = (destination: boolean) =>
    suggestions.some((item) => isFields(item) && (text(item, 'destination') === 'session') === destination)
  return [
    { id: 'allow', label: 'Allow once', effect: 'allow', scope: 'once', default: true },
    ...(to(true)
      ? [{ id: 'allow_session', label: 'Allow for this session', effect: 'allow', scope: 'session' } as const]
      : []),
    ...(to(false)
      ? [{ id: 'allow_always', label: 'Always allow', effect: 'allow', scope: 'always' } as const]
      : []),
    { id: 'deny', label: 'Deny', effect: 'deny', scope: 'once' },
  ]
}

function questionsOf(input: unknown): Question[] {
  if (!isFields(input)) return []
  return list(input, 'questions')
    .filter(isFields)
    .map((question) => ({
      // Claude takes answers by the text of the question.
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

export function decodeControlCancel(state: State, native: Fields): Step {
  const requestId = `e${state.start.epoch}.${text(native, 'request_id') ?? ''}`
  state.asks.delete(requestId)
  return sayAll(withdrawRequest(state.ledger, requestId, 'agent'))
}

/** The answer to a command of ours; only a refusal is worth saying. */
export function decodeControlResponse(state: State, native: Fields): Step {
  const response = fields(native, 'response')
  const id = text(response, 'request_id') ?? ''
  const command = state.commands.get(id)
  state.commands.delete(id)
  if (text(response, 'subtype') !== 'error') return nothing
  return say({
    type: 'notice.raised',
    level: 'warning',
    code: command === 'interrupt' ? 'interrupt_refused' : 'mode_refused',
    message: text(response, 'error') ?? 'refused',
    data: compact({ command, code: text(response, 'error_code') }),
  })
}

/** Commands as newline JSON; a line that is not JSON would kill the process. */
export function encodeLive(state: State, command: Command): Step {
  switch (command.type) {
    case 'open':
      return control(state, { subtype: 'initialize' })
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
      return control(state, { subtype: 'set_model', model: command.model })
    case 'set_policy':
      if (command.mode === undefined)
        return refuse('unsupported_option', 'claude changes its mode, not its policy')
      return control(state, { subtype: 'set_permission_mode', mode: command.mode })
    case 'close':
      return send([{ kind: 'end' }])
    default:
      return command satisfies never
  }
}

function control(state: State, request: Fields): Step {
  return write(state, { type: 'control_request', request_id: `c${++state.commandCount}`, request })
}

function write(state: State, message: Fields): Step {
  note(state, message)
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

function answer(state: State, command: AnswerCommand): Step {
  const asked = state.asks.get(command.requestId)
  if (!asked) return refuse('request_not_found', `claude no longer asks ${command.requestId}`)
  if (command.decision === 'deny') {
    const message = command.message ?? 'The user refused this.'
    const step = respond(state, asked.nativeId, {
      behavior: 'deny',
      message,
      ...(command.interrupt && { interrupt: true }),
    })
    // What Claude calls the user is us; who really decided is known here alone.
    if (asked.toolId !== undefined) refuseTool(state.ledger, asked.toolId, command.by ?? 'person')
    return step
  }
  const original = isFields(asked.input) ? asked.input : {}
  if (command.decision === 'answered') {
    const answers = Object.entries(command.answers ?? {}).filter(([, labels]) => labels.length > 0)
    if (answers.length === 0) return refuse('invalid_request', 'answers: an empty answer is not an answer')
    const joined = Object.fromEntries(answers.map(([question, labels]) => [question, labels.join(', ')]))
    return respond(state, asked.nativeId, {
      behavior: 'allow',
      updatedInput: { ...original, answers: joined },
    })
  }
  const granted = suggestionsFor(asked.suggestions, command.scope)
  return respond(state, asked.nativeId, {
    behavior: 'allow',
    updatedInput: command.input ?? original,
    ...(granted.length > 0 && { updatedPermissions: granted }),
  })
}

function suggestionsFor(suggestions: readonly unknown[], scope: AnswerCommand['scope']): unknown[] {
  if (scope === 'always') return [...suggestions]
  if (scope !== 'session') return []
  return suggestions.filter((item) => isFields(item) && text(item, 'destination') === 'session')
}

function respond(state: State, nativeId: string, response: Fields): Step {
  const message = {
    type: 'control_response',
    response: { subtype: 'success', request_id: nativeId, response },
  }
  return write(state, message)
}

function controlResponse(nativeId: string, response: Fields): Write {
  return line({ type: 'control_response', response: { subtype: 'success', request_id: nativeId, response } })
}

function controlError(nativeId: string, error: string): Write {
  return line({ type: 'control_response', response: { subtype: 'error', request_id: nativeId, error } })
}

export function sentLive(state: State, frame: Frame): Command | undefined {
  return isFields(frame.value) ? note(state, frame.value) : undefined
}

/** What a line to the agent means for the state, whoever wrote it: `encode` and transcripts come through here. */
function note(state: State, message: Fields): Command | undefined {
  switch (text(message, 'type')) {
    case 'user':
      return noteUser(state, message)
    case 'control_request': {
      const request = fields(message, 'request')
      const subtype = text(request, 'subtype') ?? '?'
      state.commands.set(text(message, 'request_id') ?? '', subtype)
      return subtype === 'interrupt' ? { type: 'interrupt' } : undefined
    }
    case 'control_response':
      return noteAnswer(state, fields(message, 'response'))
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
    state.steers.push({ text: prompt, promptId })
    return { type: 'steer', ...named }
  }
  state.turnOpen = true
  return { type: 'prompt', ...named }
}

function noteAnswer(state: State, response: Fields): Command | undefined {
  const requestId = `e${state.start.epoch}.${text(response, 'request_id') ?? ''}`
  const asked = state.asks.get(requestId)
  if (!asked || !closeRequest(state.ledger, requestId)) return undefined
  state.asks.delete(requestId)
  const body = fields(response, 'response')
  if (text(body, 'behavior') !== 'allow') {
    if (asked.toolId !== undefined) refuseTool(state.ledger, asked.toolId, 'person')
    return { type: 'answer', requestId, decision: 'deny', ...compact({ message: text(body, 'message') }) }
  }
  if (asked.tool === 'AskUserQuestion') {
    const answers: Record<string, string[]> = {}
    for (const [question, chosen] of Object.entries(fields(fields(body, 'updatedInput'), 'answers'))) {
      answers[question] = [String(chosen)]
    }
    return { type: 'answer', requestId, decision: 'answered', answers }
  }
  const scope = list(body, 'updatedPermissions').length > 0 ? 'session' : 'once'
  return { type: 'answer', requestId, decision: 'allow', scope }
}
