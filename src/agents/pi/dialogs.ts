import type { AnswerCommand, Question, RequestOption } from '../../model/index.ts'
import type { Decoded, Emitted } from '../agent.ts'
import { emit, emitAll, nothing, refuse, unmapped } from '../kit/decoded.ts'
import { compact, type Fields, fields, flag, isFields, list, text } from '../kit/fields.ts'
import type { NewRequest } from '../kit/ledger.ts'
import { askOf, closeRequest, openRequest, requestIdOf, withdrawRequest } from '../kit/requests.ts'
import { type FrameRule, ruleTable } from '../kit/rules.ts'
import { openToolId, refuseTool } from '../kit/tools.ts'
import { GATE_TITLE, readGate } from './gate.ts'
import type { Dialog, PiState } from './state.ts'
import { kindOf, locationsOf, titleOf } from './tools.ts'

const YES = 'Yes'
const NO = 'No'

const ruleOf = ruleTable<FrameRule<PiState>>({
  select(state, native) {
    const labels = list(native, 'options').filter((label) => typeof label === 'string')
    return ask(state, native, labels, { text: text(native, 'title') ?? '' })
  },

  confirm(state, native) {
    const title = text(native, 'title') ?? ''
    const message = text(native, 'message')
    return ask(state, native, [YES, NO], message ? { header: title, text: message } : { text: title })
  },

  input(state, native) {
    const title = text(native, 'title') ?? ''
    return title === GATE_TITLE ? askPermission(state, native) : ask(state, native, [], { text: title })
  },
  editor: (state, native) => ask(state, native, [], { text: text(native, 'title') ?? '' }),

  notify(_state, native) {
    const type = text(native, 'notifyType')
    const level = type === 'warning' || type === 'error' ? type : 'info'
    const code = level === 'error' ? 'agent_error' : 'agent_warning'
    return emit({ type: 'notice.raised', level, code, message: text(native, 'message') ?? '' })
  },

  // Terminal decorations without effect here.
  setStatus: () => nothing,
  setWidget: () => nothing,
  setTitle: () => nothing,
  set_editor_text: () => nothing,
})

/** An extension asks a person a question, or shows a message. */
export function decodeDialog(state: PiState, native: Fields, raw: string): Decoded {
  const rule = ruleOf(native.method)
  return rule
    ? rule(state, native, raw)
    : unmapped(`extension_ui_request/${text(native, 'method') ?? '?'}`, raw)
}

function ask(
  state: PiState,
  native: Fields,
  labels: readonly string[],
  words: Pick<Question, 'header' | 'text'>,
): Decoded {
  const nativeId = text(native, 'id') ?? '?'
  const requestId = requestIdOf(state.start, nativeId)
  const method = text(native, 'method') ?? '?'
  // The dialog does not name its call; with a single open call it is unambiguous.
  const [toolId, ...others] = state.ledger.tools.keys()
  const about = others.length === 0 ? toolId : undefined
  const request: NewRequest = {
    requestId,
    kind: 'question',
    blocking: true,
    ...compact({ toolId: about }),
    data: compact({
      method,
      placeholder: text(native, 'placeholder'),
      prefill: text(native, 'prefill'),
      timeout: native.timeout,
    }),
    options: [],
    questions: [
      {
        id: nativeId,
        ...words,
        options: labels.map((label) => ({ label })),
        ...(labels.length === 0 && { other: true }),
      },
    ],
  }
  return emitAll(openRequest(state.ledger, request, { nativeId, method, labels, toolId: about }))
}

const OPTIONS: RequestOption[] = [
  { id: 'allow', label: 'Allow once', effect: 'allow', scope: 'once', default: true },
  { id: 'allow_session', label: 'Allow this call for the session', effect: 'allow', scope: 'session' },
  { id: 'deny', label: 'Deny', effect: 'deny', scope: 'once' },
]

/** The gate requests approval for a call. */
function askPermission(state: PiState, native: Fields): Decoded {
  const nativeId = text(native, 'id') ?? '?'
  const requestId = requestIdOf(state.start, nativeId)
  const asked = readGate(text(native, 'placeholder'))
  const tool = text(asked, 'toolName') ?? '?'
  const toolId = openToolId(state.ledger, text(asked, 'toolCallId') ?? '?')
  const input = fields(asked, 'input')
  const request: NewRequest = {
    requestId,
    kind: 'permission',
    blocking: true,
    tool,
    toolKind: kindOf(tool),
    ...compact({ toolId, title: titleOf(input), locations: locationsOf(input) }),
    input,
    options: OPTIONS,
  }
  return emitAll(openRequest(state.ledger, request, { nativeId, method: 'permission', labels: [], toolId }))
}

/** Returns the line that answers, or the rejection of an invalid answer. */
export function answerOf(state: PiState, command: AnswerCommand): { message: Fields } | { refusal: Decoded } {
  const dialog = askOf(state.ledger, command.requestId)
  if (!dialog) return { refusal: refuse('request_not_found', `pi has no open request ${command.requestId}`) }
  if (dialog.method === 'permission') return permissionAnswer(dialog, command)
  const { decision } = command
  if (decision !== 'allow' && decision !== 'answered') return { message: cancelled(dialog) }
  const [value] = command.answers?.[dialog.nativeId] ?? []
  if (decision === 'allow' || value === undefined)
    return { refusal: refuse('invalid_request', 'decision: a question must be answered or denied') }
  return { message: response(dialog, dialog.method === 'confirm' ? { confirmed: value === YES } : { value }) }
}

function permissionAnswer(
  dialog: Dialog,
  command: AnswerCommand,
): { message: Fields } | { refusal: Decoded } {
  const { decision, message = 'The user refused this.', input, scope } = command
  const session = scope === 'session' || undefined
  if (decision === 'answered')
    return { refusal: refuse('invalid_request', 'decision: a call must be allowed or denied') }
  const value =
    decision === 'allow' ? { allow: true, ...compact({ session, input }) } : { allow: false, reason: message }
  return { message: response(dialog, { value: JSON.stringify(value) }) }
}

function response({ nativeId }: Dialog, answer: Fields): Fields {
  return { type: 'extension_ui_response', id: nativeId, ...answer }
}

function cancelled(dialog: Dialog): Fields {
  return response(dialog, { cancelled: true })
}

/** An interrupt waits for open dialogs forever, so they are closed first. */
export function closeDialogs(state: PiState): { emitted: Emitted[]; messages: Fields[] } {
  const emitted: Emitted[] = []
  const messages: Fields[] = []
  for (const [requestId, { ask: dialog }] of state.ledger.requests) {
    emitted.push(...withdrawRequest(state.ledger, requestId, 'interrupted'))
    messages.push(cancelled(dialog))
  }
  return { emitted, messages }
}

/** Updates the state for an answer sent to pi. A dialog answered with a denial denies its call. */
export function applyAnswer(
  state: PiState,
  message: Fields,
  by: AnswerCommand['by'] = 'person',
): AnswerCommand | undefined {
  const requestId = requestIdOf(state.start, text(message, 'id') ?? '')
  const dialog = closeRequest(state.ledger, requestId)
  // A withdrawn dialog cannot be answered any more.
  if (!dialog) return undefined
  if (dialog.method === 'permission')
    return noteDecision(state, requestId, dialog, text(message, 'value'), by)
  const value =
    typeof message.confirmed === 'boolean' ? (message.confirmed ? YES : NO) : text(message, 'value')
  const refused = value === undefined || message.confirmed === false
  if (refused && dialog.toolId !== undefined) refuseTool(state.ledger, dialog.toolId, by)
  if (value === undefined) return { type: 'answer', requestId, decision: 'deny' }
  return { type: 'answer', requestId, decision: 'answered', answers: { [dialog.nativeId]: [value] } }
}

function noteDecision(
  state: PiState,
  requestId: string,
  { toolId }: Dialog,
  value: string | undefined,
  by: NonNullable<AnswerCommand['by']>,
): AnswerCommand {
  const answer = readGate(value)
  if (flag(answer, 'allow')) {
    const { input } = answer
    const call = toolId === undefined ? undefined : state.ledger.tools.get(toolId)
    if (call && isFields(input)) state.turn.inputs.set(call.nativeId, input)
    return {
      type: 'answer',
      requestId,
      decision: 'allow',
      scope: flag(answer, 'session') ? 'session' : 'once',
      ...(isFields(input) && { input }),
    }
  }
  if (toolId !== undefined) refuseTool(state.ledger, toolId, by)
  return { type: 'answer', requestId, decision: 'deny', ...compact({ message: text(answer, 'reason') }) }
}
