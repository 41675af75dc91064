import type { RpcId } from '../../../framing/json-rpc.ts'
import type { AnswerCommand, Question, RequestOption } from '../../../model/index.ts'
import type { Decoded, Emitted, Write } from '../../agent.ts'
import { emitAll, line, nothing, refuse, send } from '../../decoded.ts'
import { formContent, formQuestions } from '../../elicitation-form.ts'
import { compact, type Fields, fields, isFields, list, text } from '../../fields.ts'
import { closeRequest, openRequest, withdrawRequest } from '../../requests.ts'
import { redefineTool, refuseTool } from '../../tools.ts'
import { openTurn } from './between-turns.ts'
import { closeBlock } from './blocks.ts'
import type { Ask, State, ToolCall } from './state.ts'
import { inputOf, learn, newToolCall } from './tool-call.ts'
import { redefined, startCall } from './tools.ts'
import { isRpcId, notificationMessage, resultMessage } from './wire.ts'

/** The agent requests approval for a call. For some agents this is the only announcement of the call. */
export function decodePermission(state: State, native: Fields): Decoded {
  const nativeId = isRpcId(native.id) ? native.id : null
  const params = fields(native, 'params')
  const subject = fields(params, 'subject')
  const asked = isFields(params.toolCall) ? params.toolCall : fields(subject, 'toolCall')
  const id = text(asked, 'toolCallId')
  const emitted = openTurn(state, isFields(params._meta) ? params._meta : undefined)
  if (state.turn) emitted.push(...closeBlock(state, state.turn))
  const call = id === undefined ? undefined : (state.tools.get(id) ?? newToolCall())
  const child = state.children.get(text(params, 'sessionId') ?? '')?.subagent
  if (call) call.parent ??= child
  if (id !== undefined && call !== undefined && call.toolId === undefined) {
    state.tools.set(id, call)
    learn(state, call, id, asked)
    emitted.push(...startCall(state, call, id, asked))
  }
  // The request may describe the call differently than the call itself: the answer is bound to the request.
  const shown = { ...(call ?? newToolCall()) }
  learn(state, shown, id ?? '', asked)
  if (call) emitted.push(...askedAs(state, call, shown))
  // The turn is being cancelled, so the request is cancelled too; otherwise the agent would wait for an answer.
  if (state.driving && state.turn?.cancelling) return send([takenBack(nativeId)], emitted)
  const { name: tool } = shown
  const leavesPlan = shown.switchesMode || state.quirks.planTools.includes(tool ?? '')
  const title = text(params, 'title') ?? shown.title
  const requestId = newRequestId(state, nativeId)
  const options = optionsIn(state, params)
  state.asks.set(requestId, { nativeId, toolId: call?.toolId, options })
  emitted.push(
    openRequest(state.ledger, {
      requestId,
      kind: leavesPlan ? 'plan' : 'permission',
      blocking: true,
      ...compact({ toolId: call?.toolId, tool, title, parent: call?.parent ?? child }),
      input: inputOf(shown, asked),
      options: [...options],
    }),
  )
  return emitAll(emitted)
}

/** The agent asks a person to fill in a form. A form at a URL is not supported. */
export function decodeElicitation(state: State, native: Fields): Decoded {
  const nativeId = isRpcId(native.id) ? native.id : null
  const form = fields(native, 'params')
  const emitted = openTurn(state, isFields(form._meta) ? form._meta : undefined)
  if (state.turn) emitted.push(...closeBlock(state, state.turn))
  const isForm = text(form, 'mode') === 'form'
  if (!isForm || (state.driving && state.turn?.cancelling)) return send([takenBack(nativeId, form)], emitted)
  const requestId = newRequestId(state, nativeId)
  const call = state.tools.get(text(form, 'toolCallId') ?? '')
  state.asks.set(requestId, { nativeId, toolId: call?.toolId, options: [], form })
  emitted.push(
    openRequest(state.ledger, {
      requestId,
      kind: 'question',
      blocking: true,
      ...compact({ toolId: call?.toolId, title: text(form, 'message'), parent: call?.parent }),
      input: form.requestedSchema,
      options: [],
      questions: questionsOf(state, form),
    }),
  )
  return emitAll(emitted)
}

function questionsOf({ quirks }: State, form: Fields): Question[] {
  const questions = formQuestions(form)
  if (!quirks.questionInTitle) return questions
  return questions.map(({ header, ...question }) =>
    header === undefined || header === question.text
      ? question
      : { ...question, header: question.text, text: header },
  )
}

/** Updates the call to the kind and files in the request. */
function askedAs(state: State, call: ToolCall, { kind = 'other', locations, changes }: ToolCall): Emitted[] {
  const before = { ...call }
  call.kind = kind
  call.locations = locations ?? call.locations
  call.changes = changes
  const emitted = redefined(state, call, before)
  // Files that the request omits may not belong to it.
  redefineTool(state.ledger, call.toolId ?? '', kind, locations)
  return emitted
}

/** Request ids restart at 0 in every process, and an answered id may be reused. */
function newRequestId(state: State, nativeId: RpcId): string {
  const id = `e${state.start.epoch}.${nativeId}`
  const uses = (state.askCounts.get(id) ?? 0) + 1
  state.askCounts.set(id, uses)
  return uses === 1 ? id : `${id}~${uses}`
}

/** The open request with a native id. */
function openAsk(state: State, nativeId: unknown): [requestId: string, ask: Ask] | undefined {
  return [...state.asks].findLast(([, ask]) => ask.nativeId === nativeId)
}

function optionsIn(state: State, params: Fields): RequestOption[] {
  const options = list(params, 'options').flatMap((option): RequestOption[] => {
    const id = isFields(option) ? text(option, 'optionId') : undefined
    if (!isFields(option) || id === undefined) return []
    const label = text(option, 'name') ?? id
    const kind = text(option, 'kind') ?? ''
    const effect = effectOf(kind)
    // An option that is neither approval nor denial cannot be offered.
    if (effect === undefined) return []
    // The label determines how long "always" lasts.
    const lasting = /session/i.test(label) ? 'session' : 'always'
    return [{ id, label, effect, scope: kind.endsWith('_always') ? lasting : 'once' }]
  })
  // Narrow options come first: the first match is chosen.
  const broad = (option: RequestOption) => state.quirks.broadOptions.includes(option.id)
  return [...options.filter((option) => !broad(option)), ...options.filter(broad)]
}

function effectOf(kind: string): RequestOption['effect'] | undefined {
  if (kind.startsWith('allow')) return 'allow'
  return kind.startsWith('reject') ? 'deny' : undefined
}

/** The agent withdraws a request. */
export function decodeCancelRequest(state: State, params: Fields): Decoded {
  const [requestId] = openAsk(state, params.requestId) ?? []
  if (requestId === undefined) return nothing
  state.asks.delete(requestId)
  const reason = state.turn?.cancelling ? 'interrupted' : 'agent'
  return emitAll(withdrawRequest(state.ledger, requestId, reason))
}

export function encodeAnswer(state: State, command: AnswerCommand): Decoded {
  const ask = state.asks.get(command.requestId)
  if (!ask) return refuse('request_not_found', `the agent has no open request ${command.requestId}`)
  if (ask.form) return answerForm(state, ask, ask.form, command)
  if (command.decision === 'answered') {
    return refuse('invalid_request', 'decision: a permission must be allowed or denied')
  }
  if (command.input !== undefined) {
    return refuse('unsupported_option', 'input: the protocol cannot change the input of a call')
  }
  const option = choose(ask, command)
  if (!option && command.decision === 'allow') {
    return refuse('unsupported_option', notOffered(ask, command.scope ?? 'once'))
  }
  // Without an option to deny, cancelling the request denies it.
  const outcome = option ? { outcome: 'selected', optionId: option.id } : { outcome: 'cancelled' }
  judgeAsked(state, ask, command.decision === 'deny' ? (command.by ?? 'person') : undefined)
  settleAsk(state, command.requestId)
  const answer = line(resultMessage(ask.nativeId, { outcome }))
  if (!command.interrupt) return send([answer])
  const cancel = cancelTurn(state)
  return send([answer, ...cancel.writes], cancel.emitted)
}

function answerForm(state: State, { nativeId }: Ask, form: Fields, command: AnswerCommand): Decoded {
  if (command.decision === 'allow')
    return refuse('invalid_request', 'decision: a question must be answered or denied')
  settleAsk(state, command.requestId)
  const result =
    command.decision === 'deny'
      ? { action: 'decline' }
      : { action: 'accept', content: formContent(form, command.answers ?? {}) }
  const answer = line(resultMessage(nativeId, result))
  if (!command.interrupt) return send([answer])
  const cancel = cancelTurn(state)
  return send([answer, ...cancel.writes], cancel.emitted)
}

/** Never selects a broader option than the answer; a narrower denial is still a denial. */
function choose(ask: Ask, { decision, scope = 'once' }: AnswerCommand): RequestOption | undefined {
  const fits = (of: RequestOption['scope']) =>
    ask.options.find((option) => option.effect === decision && option.scope === of)
  return decision === 'deny' ? (fits(scope) ?? fits('once')) : fits(scope)
}

function notOffered({ options }: Ask, scope: RequestOption['scope']): string {
  const scopes = options.filter(({ effect }) => effect === 'allow').map((option) => option.scope)
  const offered = [...new Set(scopes)].join(' or ')
  const may = offered === '' ? 'deny it' : `allow it with scope ${offered}, or deny it`
  return `scope: the agent does not offer to allow this call with scope ${scope}; ${may}`
}

/** Records who denied a call, or clears it: a call may be requested again, and the last answer applies. */
function judgeAsked(state: State, ask: Ask, refusedBy: 'person' | 'policy' | 'hook' | undefined): void {
  if (ask.toolId !== undefined) refuseTool(state.ledger, ask.toolId, refusedBy)
}

function settleAsk(state: State, requestId: string): void {
  state.asks.delete(requestId)
  closeRequest(state.ledger, requestId)
}

/** Cancels the turn once; the protocol requires that every open request is cancelled too. */
export function cancelTurn(state: State): Decoded {
  if (!state.turn || state.turn.cancelling) return nothing
  state.turn.cancelling = true
  const cancel = line(notificationMessage('session/cancel', { sessionId: state.sessionId }))
  const takes = [...state.asks.values()].map(({ nativeId, form }) => takenBack(nativeId, form))
  const emitted = [...state.asks.keys()].flatMap((id) => withdrawRequest(state.ledger, id, 'interrupted'))
  state.asks.clear()
  return send([cancel, ...takes], emitted)
}

function takenBack(nativeId: RpcId, form?: Fields): Write {
  return line(resultMessage(nativeId, form ? { action: 'cancel' } : { outcome: { outcome: 'cancelled' } }))
}

/** An answer that another client sent to the agent. */
export function applyAnswer(state: State, nativeId: unknown, result: Fields): AnswerCommand | undefined {
  const [requestId, ask] = openAsk(state, nativeId) ?? []
  if (requestId === undefined || !ask) return undefined
  if (ask.form) return noteForm(state, requestId, result)
  const outcome = fields(result, 'outcome')
  const option = ask.options.find(({ id }) => id === text(outcome, 'optionId'))
  // Cancelled with the turn: settlement withdraws it. Cancelled alone: it was not approved.
  if (!option && state.turn?.cancelling) return undefined
  settleAsk(state, requestId)
  judgeAsked(state, ask, option?.effect === 'allow' ? undefined : 'person')
  if (option?.effect === 'allow') return { type: 'answer', requestId, decision: 'allow', scope: option.scope }
  return { type: 'answer', requestId, decision: 'deny', ...(option && { scope: option.scope }) }
}

function noteForm(state: State, requestId: string, result: Fields): AnswerCommand | undefined {
  if (text(result, 'action') === 'cancel' && state.turn?.cancelling) return undefined
  settleAsk(state, requestId)
  if (text(result, 'action') !== 'accept') return { type: 'answer', requestId, decision: 'deny' }
  const content = Object.entries(fields(result, 'content'))
  const answers = content.map(([id, value]) => [id, (Array.isArray(value) ? value : [value]).map(String)])
  return { type: 'answer', requestId, decision: 'answered', answers: Object.fromEntries(answers) }
}
