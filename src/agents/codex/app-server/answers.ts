import type { AnswerCommand, Command } from '../../../model/index.ts'
import type { Decoded } from '../../agent.ts'
import { line, refuse, send } from '../../kit/decoded.ts'
import { formContent, formQuestions } from '../../kit/elicitation-form.ts'
import { type Fields, fields, isFields, list, text, texts } from '../../kit/fields.ts'
import { askByNativeId, askOf, closeRequest, denierOf, withDenialNotice } from '../../kit/requests.ts'
import { refuseTool } from '../../kit/tools.ts'
import { readAnswers } from './questions.ts'
import { amendmentOf } from './requests.ts'
import type { AppServerState, CodexAsk } from './state.ts'

/** Answers a request of the server under the server's id. */
export function encodeAnswer(state: AppServerState, command: AnswerCommand): Decoded {
  const ask = askOf(state.ledger, command.requestId)
  if (!ask) return refuse('request_not_found', `codex has no open request ${command.requestId}`)
  const answered = Object.values(command.answers ?? {}).some((values) => values.length > 0)
  if (command.decision === 'answered' && !answered)
    return refuse('invalid_request', 'answers: an answer must not be empty')
  const result = RESULTS[ask.form](ask, command)
  if (!result)
    return refuse('unsupported_option', `codex does not offer "${command.scope ?? command.decision}" here`)
  const message = { id: ask.nativeId, result }
  applyAnswer(state, message)
  const step = send([line(message)])
  if (isApproval(command)) return step
  // Codex knows only that its client denied; only this side knows who decided.
  if (ask.toolId !== undefined) refuseTool(state.ledger, ask.toolId, denierOf(command))
  return withDenialNotice(step, command)
}

function isApproval({ decision }: AnswerCommand): boolean {
  return decision === 'allow' || decision === 'answered'
}

/** Builds the result for each form of request; undefined for an answer that the form does not support. */
const RESULTS: Readonly<
  Record<CodexAsk['form'], (ask: CodexAsk, command: AnswerCommand) => Fields | undefined>
> = {
  decision({ params }, { decision, scope = 'once', interrupt }) {
    if (decision === 'answered') return undefined
    if (decision !== 'allow') return { decision: interrupt ? 'cancel' : 'decline' }
    if (scope !== 'always') return { decision: scope === 'once' ? 'accept' : 'acceptForSession' }
    const amendment = amendmentOf(params)
    return amendment && { decision: { acceptWithExecpolicyAmendment: { execpolicy_amendment: amendment } } }
  },

  elicitation({ params }, command) {
    const { decision, scope = 'once', interrupt, answers = {} } = command
    if (!isApproval(command)) return { action: interrupt ? 'cancel' : 'decline', content: null, _meta: null }
    // A form is filled in, not allowed.
    if (decision === 'allow' && formQuestions(params).length > 0) return undefined
    const content = decision === 'answered' ? formContent(params, answers) : {}
    if (scope === 'once') return { action: 'accept', content, _meta: null }
    const offered = texts(fields(params, '_meta'), 'persist')?.includes(scope)
    return offered ? { action: 'accept', content, _meta: { persist: scope } } : undefined
  },

  questions(_ask, { decision, answers = {} }) {
    if (decision === 'allow') return undefined
    const given = decision === 'answered' ? answers : {}
    return {
      answers: Object.fromEntries(Object.entries(given).map(([id, values]) => [id, { answers: values }])),
    }
  },
}

/** Updates the state for an answer; both `encode` and transcripts use it. */
export function applyAnswer(state: AppServerState, message: Fields): Command | undefined {
  const [requestId, ask] = askByNativeId(state.ledger, message.id) ?? []
  if (requestId === undefined || !ask) return undefined
  closeRequest(state.ledger, requestId)
  const answer = readAnswer(ask, fields(message, 'result'))
  if (answer.decision === 'deny' && ask.toolId !== undefined) refuseTool(state.ledger, ask.toolId, 'person')
  return { type: 'answer', requestId, ...answer }
}

type DecodedAnswer = Pick<AnswerCommand, 'decision' | 'scope' | 'interrupt' | 'answers'>

function readAnswer({ form }: CodexAsk, result: Fields): DecodedAnswer {
  if (form === 'questions') {
    const answers = readAnswers(fields(result, 'answers'))
    return Object.keys(answers).length > 0 ? { decision: 'answered', answers } : { decision: 'deny' }
  }
  if (form === 'elicitation') {
    const content = readAnswers(fields(result, 'content'))
    const persist = text(fields(result, '_meta'), 'persist')
    if (text(result, 'action') !== 'accept') return denied(result.action)
    if (Object.keys(content).length > 0) return { decision: 'answered', answers: content }
    return { decision: 'allow', scope: persist === 'session' || persist === 'always' ? persist : 'once' }
  }
  const { decision } = result
  if (decision === 'accept') return { decision: 'allow', scope: 'once' }
  if (decision === 'acceptForSession') return { decision: 'allow', scope: 'session' }
  return isFields(decision) &&
    list(fields(decision, 'acceptWithExecpolicyAmendment'), 'execpolicy_amendment').length > 0
    ? { decision: 'allow', scope: 'always' }
    : denied(decision)
}

/** An error instead of a result counts as a denial, and so does everything else that is not an approval. */
function denied(word: unknown): DecodedAnswer {
  return { decision: 'deny', ...(word === 'cancel' && { interrupt: true }) }
}
