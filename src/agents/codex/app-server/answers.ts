import type { AnswerCommand, Command } from '../../../model/index.ts'
import type { Decoded } from '../../agent.ts'
import { line, refuse, send } from '../../decoded.ts'
import { type Fields, fields, isFields, list, text, texts } from '../../fields.ts'
import { formContent, formQuestions } from '../../forms.ts'
import { closeRequest } from '../../requests.ts'
import { refuseTool } from '../../tools.ts'
import { readAnswers } from './questions.ts'
import { amendmentOf, askByNativeId } from './requests.ts'
import type { Ask, State } from './state.ts'

/** Answers a question of the server under the server's own id. */
export function encodeAnswer(state: State, command: AnswerCommand): Decoded {
  const ask = state.asks.get(command.requestId)
  if (!ask || !state.ledger.requests.has(command.requestId))
    return refuse('request_not_found', `codex no longer asks ${command.requestId}`)
  if (command.input !== undefined)
    return refuse(
      'unsupported_option',
      'codex runs what it asked for, or nothing: its input cannot be changed',
    )
  const answered = Object.values(command.answers ?? {}).some((values) => values.length > 0)
  if (command.decision === 'answered' && !answered)
    return refuse('invalid_request', 'answers: an empty answer is not an answer')
  const result = RESULTS[ask.form](ask, command)
  if (!result)
    return refuse('unsupported_option', `codex does not offer "${command.scope ?? command.decision}" here`)
  const message = { id: ask.nativeId, result }
  noteAnswer(state, message)
  // Codex only knows that its client said no; who really decided is known here alone.
  if (command.decision === 'deny' && ask.toolId !== undefined)
    refuseTool(state.ledger, ask.toolId, command.by ?? 'person')
  return send([line(message)])
}

/** The result for each way to be answered; undefined for an answer that way does not have. */
const RESULTS: Readonly<Record<Ask['form'], (ask: Ask, command: AnswerCommand) => Fields | undefined>> = {
  decision({ params }, { decision, scope = 'once', interrupt }) {
    if (decision === 'answered') return undefined
    if (decision === 'deny') return { decision: interrupt ? 'cancel' : 'decline' }
    if (scope !== 'always') return { decision: scope === 'once' ? 'accept' : 'acceptForSession' }
    const amendment = amendmentOf(params)
    return amendment && { decision: { acceptWithExecpolicyAmendment: { execpolicy_amendment: amendment } } }
  },

  elicitation({ params }, { decision, scope = 'once', interrupt, answers = {} }) {
    if (decision === 'deny') return { action: interrupt ? 'cancel' : 'decline', content: null, _meta: null }
    // A form is filled in, not allowed.
    if (decision === 'allow' && formQuestions(params).length > 0) return undefined
    const content = decision === 'answered' ? formContent(params, answers) : {}
    if (scope === 'once') return { action: 'accept', content, _meta: null }
    const offered = texts(fields(params, '_meta'), 'persist')?.includes(scope)
    return offered ? { action: 'accept', content, _meta: { persist: scope } } : undefined
  },

  questions(_ask, { decision, answers = {} }) {
    if (decision === 'allow') return undefined
    const given = decision === 'deny' ? {} : answers
    return {
      answers: Object.fromEntries(Object.entries(given).map(([id, values]) => [id, { answers: values }])),
    }
  },
}

/** What an answer means for the state, whoever wrote it: `encode` and transcripts come through here. */
export function noteAnswer(state: State, message: Fields): Command | undefined {
  const [requestId, ask] = askByNativeId(state, message.id) ?? []
  if (requestId === undefined || !ask || !closeRequest(state.ledger, requestId)) return undefined
  state.asks.delete(requestId)
  const told = readAnswer(ask, fields(message, 'result'))
  if (told.decision === 'deny' && ask.toolId !== undefined) refuseTool(state.ledger, ask.toolId, 'person')
  return { type: 'answer', requestId, ...told }
}

type Told = Pick<AnswerCommand, 'decision' | 'scope' | 'interrupt' | 'answers'>

function readAnswer({ form }: Ask, result: Fields): Told {
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

/** An error instead of a result counts as no, and so does everything else that is not a yes. */
function denied(word: unknown): Told {
  return { decision: 'deny', ...(word === 'cancel' && { interrupt: true }) }
}
