import type { AnswerCommand, Question, RequestOption } from '../../../model/index.ts'
import type { Decoded, Emitted, Write } from '../../agent.ts'
import { emitAll, line, nothing, refuse, send } from '../../kit/decoded.ts'
import { formContent, formQuestions } from '../../kit/elicitation-form.ts'
import { compact, type Fields, fields, isFields, list, sameValue, text } from '../../kit/fields.ts'
import {
  askByNativeId,
  askOf,
  closeRequest,
  denierOf,
  nextRequestId,
  openRequest,
  withDenialNotice,
  withdrawRequest,
} from '../../kit/requests.ts'
import { redefineTool, refuseTool } from '../../kit/tools.ts'
import { openTurn } from './between-turns.ts'
import { closeBlock } from './blocks.ts'
import { choiceAnswer, choiceOutcome, isChoice, openChoice } from './choices.ts'
import type { AcpAsk, AcpState, ToolCall } from './state.ts'
import { contentText, inputOf, learn, newToolCall } from './tools/tool-call.ts'
import { redefined, startCall } from './tools/tools.ts'
import { isRpcId, notificationMessage, type RpcId, resultMessage } from './wire.ts'

/** The agent requests approval for a call. For some agents this is the only announcement of the call. */
export function decodePermission(state: AcpState, native: Fields): Decoded {
  const nativeId = isRpcId(native.id) ? native.id : null
  const params = fields(native, 'params')
  const subject = fields(params, 'subject')
  const asked = isFields(params.toolCall) ? params.toolCall : fields(subject, 'toolCall')
  const id = text(asked, 'toolCallId')
  const emitted = openTurn(state, isFields(params._meta) ? params._meta : undefined)
  if (state.turn) emitted.push(...closeBlock(state, state.turn))
  if (isChoice(state, id)) {
    if (state.driving && state.turn?.cancelling) return send([takenBack(nativeId)], emitted)
    return openChoice(state, nativeId, { asked, params }, emitted)
  }
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
  const description = descriptionIn(state, call, asked)
  if (call && description) shown.input = call.input
  if (call) emitted.push(...askedAs(state, call, shown))
  // The turn is being cancelled, so the request is cancelled too; otherwise the agent would wait for an answer.
  if (state.driving && state.turn?.cancelling) return send([takenBack(nativeId)], emitted)
  const { name: tool } = shown
  const leavesPlan = shown.switchesMode || state.quirks.planTools.includes(tool ?? '')
  const title = text(params, 'title') ?? shown.title
  const data = withNote(description, noteIn(shown, asked))
  const requestId = nextRequestId(state.ledger, state.start, nativeId)
  const options = optionsIn(state, params)
  emitted.push(
    ...openRequest(
      state.ledger,
      {
        requestId,
        kind: leavesPlan ? 'plan' : 'permission',
        blocking: true,
        ...compact({ toolId: call?.toolId, tool, title, parent: call?.parent ?? child, data }),
        input: inputOf(shown, asked),
        options: [...options],
      },
      { nativeId, toolId: call?.toolId, options },
    ),
  )
  return emitAll(emitted)
}

/** The agent asks a person to fill in a form. A form at a URL is not supported. */
export function decodeElicitation(state: AcpState, native: Fields): Decoded {
  const nativeId = isRpcId(native.id) ? native.id : null
  const form = fields(native, 'params')
  const emitted = openTurn(state, isFields(form._meta) ? form._meta : undefined)
  if (state.turn) emitted.push(...closeBlock(state, state.turn))
  const isForm = text(form, 'mode') === 'form'
  if (!isForm || (state.driving && state.turn?.cancelling)) return send([takenBack(nativeId, form)], emitted)
  const requestId = nextRequestId(state.ledger, state.start, nativeId)
  const call = state.tools.get(text(form, 'toolCallId') ?? '')
  emitted.push(
    ...openRequest(
      state.ledger,
      {
        requestId,
        kind: 'question',
        blocking: true,
        ...compact({ toolId: call?.toolId, title: text(form, 'message'), parent: call?.parent }),
        ...(form.requestedSchema !== undefined && { data: { requestedSchema: form.requestedSchema } }),
        options: [],
        questions: questionsOf(state, form),
      },
      { nativeId, toolId: call?.toolId, options: [], form },
    ),
  )
  return emitAll(emitted)
}

function questionsOf({ quirks }: AcpState, form: Fields): Question[] {
  const questions = formQuestions(form)
  if (!quirks.questionInTitle) return questions
  return questions.map(({ header, ...question }) =>
    header === undefined || header === question.text
      ? question
      : { ...question, header: question.text, text: header },
  )
}

/**
 * The input in the request, if it only describes the call. An input that contradicts the call's own is what the agent
 * will run instead.
 */
function descriptionIn(
  { quirks }: AcpState,
  call: ToolCall | undefined,
  { rawInput }: Fields,
): { rawInput: Fields } | undefined {
  const own = call?.input
  if (!quirks.describesRequests || !isFields(own) || !isFields(rawInput)) return undefined
  const agrees = ([key, value]: [string, unknown]) => !Object.hasOwn(own, key) || sameValue(own[key], value)
  return !sameValue(own, rawInput) && Object.entries(rawInput).every(agrees) ? { rawInput } : undefined
}

/** What the agent tells the person besides the input, such as why it asks. */
function noteIn({ input }: ToolCall, asked: Fields): string {
  // Without an input, the request has the text in its place.
  if (input === undefined) return ''
  const note = contentText(asked)
  return isFields(input) && Object.values(input).includes(note) ? '' : note
}

function withNote(description: object | undefined, shown: string): object | undefined {
  return shown === '' ? description : { ...description, shown }
}

/** Updates the call to the kind, input and files in the request. */
function askedAs(state: AcpState, call: ToolCall, shown: ToolCall): Emitted[] {
  const { kind = 'other', locations, changes, input } = shown
  const before = { ...call }
  call.kind = kind
  call.input = input
  call.locations = locations ?? call.locations
  call.changes = changes
  const emitted = redefined(state, call, before)
  // Files that the request omits may not belong to it.
  redefineTool(state.ledger, call.toolId ?? '', { kind, locations, input })
  return emitted
}

/**
 * The labels that limit "always" to the session. Only these words, because others may be the name of a command: "don't
 * ask again for session-cleanup commands" lasts for ever.
 */
const FOR_SESSION =
  /^(?:yes, )?(?:(?:always )?(?:allow|approve|accept|reject|deny)(?: (?:all|this|the|edits?|files?|changes?|commands?|tools?|server|access))* )?(?:for|during) (?:this|the) session$/i

function optionsIn(state: AcpState, params: Fields): RequestOption[] {
  const options = list(params, 'options').flatMap((option): RequestOption[] => {
    const id = isFields(option) ? text(option, 'optionId') : undefined
    if (!isFields(option) || id === undefined) return []
    const label = text(option, 'name') ?? id
    const kind = text(option, 'kind') ?? ''
    const effect = effectOf(kind)
    // An option that is neither approval nor denial cannot be offered.
    if (effect === undefined) return []
    const lasting = FOR_SESSION.test(label) ? 'session' : 'always'
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
export function decodeCancelRequest(state: AcpState, params: Fields): Decoded {
  const [requestId] = askByNativeId(state.ledger, params.requestId) ?? []
  if (requestId === undefined) return nothing
  const reason = state.turn?.cancelling ? 'interrupted' : 'agent'
  return emitAll(withdrawRequest(state.ledger, requestId, reason))
}

export function encodeAnswer(state: AcpState, command: AnswerCommand): Decoded {
  const ask = askOf(state.ledger, command.requestId)
  if (!ask) return refuse('request_not_found', `the agent has no open request ${command.requestId}`)
  if (ask.form) return answerForm(state, ask, ask.form, command)
  if (ask.choices) {
    const chosen = choiceOutcome(ask.choices, command)
    return 'refusal' in chosen ? chosen.refusal : answerWith(state, ask, command, chosen)
  }
  if (command.decision === 'answered') {
    return refuse('invalid_request', 'decision: a permission must be allowed or denied')
  }
  const option = choose(ask, command)
  if (!option && command.decision === 'allow') {
    return refuse('unsupported_option', `scope: the agent does not offer "${command.scope ?? 'once'}" here`)
  }
  // Without an option to deny, cancelling the request denies it.
  const outcome = option ? { outcome: 'selected', optionId: option.id } : { outcome: 'cancelled' }
  judgeAsked(state, ask, command.decision === 'allow' ? undefined : denierOf(command))
  return answerWith(state, ask, command, { outcome })
}

function answerWith(state: AcpState, { nativeId }: AcpAsk, command: AnswerCommand, result: Fields): Decoded {
  closeRequest(state.ledger, command.requestId)
  const answer = line(resultMessage(nativeId, result))
  const cancel = command.interrupt ? cancelTurn(state) : nothing
  return withDenialNotice(send([answer, ...cancel.writes], cancel.emitted), command)
}

function answerForm(state: AcpState, ask: AcpAsk, form: Fields, command: AnswerCommand): Decoded {
  if (command.decision === 'allow')
    return refuse('invalid_request', 'decision: a question must be answered or denied')
  const result =
    command.decision === 'answered'
      ? { action: 'accept', content: formContent(form, command.answers ?? {}) }
      : { action: 'decline' }
  return answerWith(state, ask, command, result)
}

/** Never selects a broader option than the answer; a narrower denial is still a denial. */
function choose(ask: AcpAsk, { decision, scope = 'once' }: AnswerCommand): RequestOption | undefined {
  const effect = decision === 'allow' ? 'allow' : 'deny'
  const fits = (of: RequestOption['scope']) =>
    ask.options.find((option) => option.effect === effect && option.scope === of)
  return effect === 'deny' ? (fits(scope) ?? fits('once')) : fits(scope)
}

/** Records who denied a call, or clears it: a call may be requested again, and the last answer applies. */
function judgeAsked(state: AcpState, ask: AcpAsk, refusedBy: 'person' | 'policy' | 'hook' | undefined): void {
  if (ask.toolId !== undefined) refuseTool(state.ledger, ask.toolId, refusedBy)
}

/** Cancels the turn once; the protocol requires that every open request is cancelled too. */
export function cancelTurn(state: AcpState): Decoded {
  if (!state.turn || state.turn.cancelling) return nothing
  state.turn.cancelling = true
  const cancel = line(notificationMessage('session/cancel', { sessionId: state.sessionId }))
  const { ledger } = state
  const takes = [...ledger.requests.values()].map(({ ask }) => takenBack(ask.nativeId, ask.form))
  const emitted = [...ledger.requests.keys()].flatMap((id) => withdrawRequest(ledger, id, 'interrupted'))
  return send([cancel, ...takes], emitted)
}

function takenBack(nativeId: RpcId, form?: Fields): Write {
  return line(resultMessage(nativeId, form ? { action: 'cancel' } : { outcome: { outcome: 'cancelled' } }))
}

/** An answer that another client sent to the agent. */
export function applyAnswer(state: AcpState, nativeId: unknown, result: Fields): AnswerCommand | undefined {
  const [requestId, ask] = askByNativeId(state.ledger, nativeId) ?? []
  if (requestId === undefined || !ask) return undefined
  if (ask.form) return noteForm(state, requestId, result)
  const outcome = fields(result, 'outcome')
  if (ask.choices) {
    closeRequest(state.ledger, requestId)
    return choiceAnswer(ask.choices, requestId, outcome)
  }
  const option = ask.options.find(({ id }) => id === text(outcome, 'optionId'))
  // Cancelled with the turn: settlement withdraws it. Cancelled alone: it was not approved.
  if (!option && state.turn?.cancelling) return undefined
  closeRequest(state.ledger, requestId)
  judgeAsked(state, ask, option?.effect === 'allow' ? undefined : 'person')
  if (option?.effect === 'allow') return { type: 'answer', requestId, decision: 'allow', scope: option.scope }
  return { type: 'answer', requestId, decision: 'deny', ...(option && { scope: option.scope }) }
}

function noteForm(state: AcpState, requestId: string, result: Fields): AnswerCommand | undefined {
  if (text(result, 'action') === 'cancel' && state.turn?.cancelling) return undefined
  closeRequest(state.ledger, requestId)
  if (text(result, 'action') !== 'accept') return { type: 'answer', requestId, decision: 'deny' }
  const content = Object.entries(fields(result, 'content'))
  const answers = content.map(([id, value]) => [id, (Array.isArray(value) ? value : [value]).map(String)])
  return { type: 'answer', requestId, decision: 'answered', answers: Object.fromEntries(answers) }
}
