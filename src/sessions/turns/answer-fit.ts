import type { RequestOpened } from '../../model/events/request.ts'
import {
  type Answers,
  type BoundAnswer,
  MainstemError,
  type Question,
  type Scope,
} from '../../model/index.ts'
import { offeredScopes } from '../../model/request/offered-scopes.ts'

/**
 * Refuses an answer that does not fit its request, so that nothing is approved that was not decided: the decision
 * belongs to another kind of request, the agent does not offer the scope, an answer is empty or belongs to no question.
 */
export function checkFit(request: RequestOpened, answer: BoundAnswer, canChangeInput: boolean): void {
  const { kind, questions = [] } = request
  const { decision, scope = 'once', answers, input, interrupt } = answer
  const approval = kind === 'question' ? 'answered' : 'allow'
  if (decision !== 'deny' && decision !== approval)
    throw unfit('decision', `a ${kind} request needs "${approval}" or "deny", not "${decision}"`)
  if (interrupt === true && decision !== 'deny')
    throw unfit('interrupt', 'only a denial can stop the turn; send "deny", or interrupt the session')
  if (answers !== undefined && decision !== 'answered')
    throw unfit('answers', `only the decision "answered" has answers, not "${decision}"`)
  if (input !== undefined && decision !== 'allow')
    throw unfit('input', `only the decision "allow" can change the input, not "${decision}"`)
  if (input !== undefined && !canChangeInput)
    throw new MainstemError('unsupported_option', 'input: this agent cannot run a call with changed input', {
      field: 'input',
    })
  if (decision !== 'deny') checkScope(request, scope)
  if (decision === 'answered') checkAnswers(questions, answers)
}

function checkScope(request: RequestOpened, scope: Scope): void {
  const offered = offeredScopes(request)
  if (offered.includes(scope)) return
  const fix = `use ${offered.map((one) => `"${one}"`).join(' or ')}, or deny the request`
  throw new MainstemError('unsupported_option', `scope: the agent does not offer "${scope}" here; ${fix}`, {
    field: 'scope',
  })
}

/** An empty answer is no answer: the agent would go on as if a person had chosen. */
function checkAnswers(questions: readonly Question[], answers: Answers = {}): void {
  for (const [id, chosen] of Object.entries(answers)) {
    const question = questions.find((one) => one.id === id)
    if (!question) {
      const known = questions.map((one) => `"${one.id}"`).join(', ')
      throw unfit(`answers.${id}`, `the request has no question "${id}"; its questions are ${known}`)
    }
    checkChosen(question, chosen)
  }
  if (Object.values(answers).flat().every(isBlank))
    throw unfit('answers', 'an answer must not be empty; answer a question, or deny the request')
}

function checkChosen({ id, options, multiple, other }: Question, chosen: readonly string[]): void {
  if (chosen.length > 1 && !multiple) throw unfit(`answers.${id}`, 'the question takes one answer')
  if (other || options.length === 0) return
  const labels = options.map(({ label }) => label)
  const unknown = chosen.find((one) => !isBlank(one) && !labels.includes(one))
  if (unknown !== undefined)
    throw unfit(`answers.${id}`, `"${unknown}" is not offered; choose one of ${labels.join(', ')}`)
}

function isBlank(text: string): boolean {
  return text.trim() === ''
}

function unfit(field: string, message: string): MainstemError {
  return new MainstemError('invalid_request', `${field}: ${message}`, { field })
}
