import type { RpcId } from '../../../framing/json-rpc.ts'
import type { AnswerCommand, Question, RequestOption } from '../../../model/index.ts'
import type { Decoded, Emitted, Write } from '../../agent.ts'
import { emitAll, line, nothing, refuse, send } from '../../decoded.ts'
import { compact, type Fields, fields, isFields, list, text } from '../../fields.ts'
import { formContent, formQuestions } from '../../forms.ts'
import { closeRequest, openRequest, withdrawRequest } from '../../requests.ts'
import { redefineTool, refuseTool } from '../../tools.ts'
import { openTurn } from './between-turns.ts'
import { closeBlock } from './blocks.ts'
import type { Ask, State, ToolCall } from './state.ts'
import { inputOf, learn, newToolCall } from './tool-call.ts'
import { redefined, startCall } from './tools.ts'
import { isRpcId, notificationMessage, resultMessage } from './wire.ts'

/** The agent asks whether a call may run. For some this is the only place where the call is announced. */
export function decodePermission(state: State, native: Fields): Decoded {
  const nativeId = isRpcId(native.id) ? native.id : null
  const params = fields(native, 'params')
  const subject = fields(params, 'subject')
  const asked = isFields(params.toolCall) ? params.toolCall : fields(subject, 'toolCall')
  const id = text(asked, 'toolCallId')
  const emitted = openTurn(state, isFields(params._meta) ? params._meta : undefined)
  if (state.turn) emitted.push(...closeBlock(state, state.turn))
  const call = id === undefined ? undefined : (state.tools.get(id) ?? newToolCall())
  if (id !== undefined && call !== undefined && call.toolId === undefined) {
    state.tools.set(id, call)
    learn(state, call, id, asked)
    emitted.push(...startCall(state, call, id, asked))
  }
  // What is asked may be told in other words than the call itself: the answer is bound to these.
  const shown = { ...(call ?? newToolCall()) }
  learn(state, shown, id ?? '', asked)
  if (call) emitted.push(...askedAs(state, call, shown))
  // Nobody waits for an answer any more, and the agent must not wait for one either.
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
      ...compact({ toolId: call?.toolId, tool, title, parent: call?.parent }),
      input: inputOf(shown, asked),
      options: [...options],
    }),
  )
  return emitAll(emitted)
}

/** The agent asks a person to fill in a form. A form it wants shown elsewhere, by URL, is not supported. */
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

/** The call is what is asked about: of this kind, and with these files. */
function askedAs(state: State, call: ToolCall, { kind = 'other', locations, changes }: ToolCall): Emitted[] {
  const before = { ...call }
  call.kind = kind
  call.locations = locations ?? call.locations
  call.changes = changes
  const emitted = redefined(state, call, before)
  // Files that are not told with the question may not be those it is about.
  redefineTool(state.ledger, call.toolId ?? '', kind, locations)
  return emitted
}

/** Ids of requests start again at 0 in every process, and one that was answered may be used again. */
function newRequestId(state: State, nativeId: RpcId): string {
  const id = `e${state.start.epoch}.${nativeId}`
  const uses = (state.askCounts.get(id) ?? 0) + 1
  state.askCounts.set(id, uses)
  return uses === 1 ? id : `${id}~${uses}`
}

/** The question that is open under a native id. */
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
    // Nobody can choose what he does not know to be a yes or a no.
    if (effect === undefined) return []
    // "Always" lasts as long as the label says.
    const lasting = /session/i.test(label) ? 'session' : 'always'
    return [{ id, label, effect, scope: kind.endsWith('_always') ? lasting : 'once' }]
  })
  // The narrow ones come first: the first that fits is chosen.
  const broad = (option: RequestOption) => state.quirks.broadOptions.includes(option.id)
  return [...options.filter((option) => !broad(option)), ...options.filter(broad)]
}

function effectOf(kind: string): RequestOption['effect'] | undefined {
  if (kind.startsWith('allow')) return 'allow'
  return kind.startsWith('reject') ? 'deny' : undefined
}

/** The agent no longer wants to know. */
export function decodeCancelRequest(state: State, params: Fields): Decoded {
  const [requestId] = openAsk(state, params.requestId) ?? []
  if (requestId === undefined) return nothing
  state.asks.delete(requestId)
  const reason = state.turn?.cancelling ? 'interrupted' : 'agent'
  return emitAll(withdrawRequest(state.ledger, requestId, reason))
}

export function encodeAnswer(state: State, command: AnswerCommand): Decoded {
  const ask = state.asks.get(command.requestId)
  if (!ask) return refuse('request_not_found', `the agent no longer asks ${command.requestId}`)
  if (ask.form) return answerForm(state, ask, ask.form, command)
  if (command.decision === 'answered') {
    return refuse('invalid_request', 'decision: a permission is allowed or denied, not answered')
  }
  if (command.input !== undefined) {
    return refuse('unsupported_option', 'input: the protocol has no way to rewrite what was asked')
  }
  const option = choose(ask, command)
  if (!option && command.decision === 'allow') {
    return refuse(
      'unsupported_option',
      `scope: the agent does not offer to allow this ${command.scope ?? 'once'}`,
    )
  }
  // Where there is no way to say no, taking the question back says it.
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
    return refuse('invalid_request', 'decision: a question is answered or denied')
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

/** A wider answer than was given is never sent; a narrower "no" is still a no. */
function choose(ask: Ask, { decision, scope = 'once' }: AnswerCommand): RequestOption | undefined {
  const fits = (of: RequestOption['scope']) =>
    ask.options.find((option) => option.effect === decision && option.scope === of)
  return decision === 'deny' ? (fits(scope) ?? fits('once')) : fits(scope)
}

/** Who refused a call, or nobody: it may be asked about again, and the last answer is the one that holds. */
function judgeAsked(state: State, ask: Ask, refusedBy: 'person' | 'policy' | 'hook' | undefined): void {
  if (ask.toolId !== undefined) refuseTool(state.ledger, ask.toolId, refusedBy)
}

function settleAsk(state: State, requestId: string): void {
  state.asks.delete(requestId)
  closeRequest(state.ledger, requestId)
}

/** Cancelling a turn, which is done once, obliges us to take every open question back. */
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

/** An answer that somebody else wrote to the agent. */
export function noteAnswer(state: State, nativeId: unknown, result: Fields): AnswerCommand | undefined {
  const [requestId, ask] = openAsk(state, nativeId) ?? []
  if (requestId === undefined || !ask) return undefined
  if (ask.form) return noteForm(state, requestId, result)
  const outcome = fields(result, 'outcome')
  const option = ask.options.find(({ id }) => id === text(outcome, 'optionId'))
  // Taken back because the turn is: settlement withdraws it. Taken back by itself: nobody allowed it.
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
