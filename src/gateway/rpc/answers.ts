import { questionsOf } from '../../dialects/daemon/daemon-request.ts'
import type { RequestOpened } from '../../model/events/request.ts'
import { type AnswerCommand, MainstemError, type RequestOption } from '../../model/index.ts'
import { offeredScopes } from '../../model/request/offered-scopes.ts'

/** Replies that count as Allow or Deny, including the option numbers. */
const YES: ReadonlySet<string> = new Set([
  'allow',
  'allow once',
  'yes',
  'y',
  'ok',
  'okay',
  'approve',
  'accept',
  '1',
])
const NO: ReadonlySet<string> = new Set(['deny', 'no', 'n', 'reject', 'decline', '2'])

type QuestionShown = ReturnType<typeof questionsOf>[number]

/** Interprets a client's message as the answer to an open request. */
export function answerIn(message: string, request: RequestOpened): AnswerCommand {
  const { requestId, questions = [] } = request
  if (questions.length === 0) return decisionIn(message, request)
  const shown = questionsOf(request)
  // One line per question, or the same text for all questions.
  const lines = message.split('\n').filter((line) => line.trim() !== '')
  const onePerQuestion = lines.length === questions.length
  const answers = questions.map(({ id }, index) => [
    id,
    chosenIn((onePerQuestion && lines[index]) || message, shown[index]),
  ])
  return { type: 'answer', requestId, decision: 'answered', answers: Object.fromEntries(answers) }
}

/** Returns whether the message only names one of the offered options. */
export function isPlainAnswer(message: string, request: RequestOpened): boolean {
  const reply = plain(message)
  if (!request.questions?.length) return YES.has(reply) || NO.has(reply)
  return questionsOf(request).some((question) => optionIn(message, question) !== undefined)
}

/** Only a clear yes allows. Any other message denies, and the agent receives its text. */
function decisionIn(message: string, { requestId, options }: RequestOpened): AnswerCommand {
  const reply = plain(message)
  if (YES.has(reply)) {
    if (!offeredScopes({ options }).includes('once')) throw tooWide(options)
    return { type: 'answer', requestId, decision: 'allow', scope: 'once' }
  }
  if (NO.has(reply)) return { type: 'answer', requestId, decision: 'deny' }
  const named = options.find(({ label }) => plain(label) === reply)
  if (named) return { type: 'answer', requestId, decision: named.effect, scope: named.scope }
  return { type: 'answer', requestId, decision: 'deny', message }
}

/** A yes is about what was shown, which is this call. */
function tooWide(options: readonly RequestOption[]): MainstemError {
  const labels = options.filter(({ effect }) => effect === 'allow').map(({ label }) => `"${label}"`)
  return new MainstemError('unsupported_option', 'the agent cannot be allowed this call alone', {
    advice: `Reply with the words of its option, ${labels.join(' or ')}, or deny.`,
  })
}

/** Options by name or number; any other text is a free-form answer. */
function chosenIn(text: string, question: QuestionShown | undefined): string[] {
  const whole = optionIn(text, question)
  if (whole !== undefined) return [whole]
  const deps = question?.multiSelect ? text.split(/[,;\n]/).map((part) => optionIn(part, question)) : []
  const chosen = deps.filter((part) => part !== undefined)
  return chosen.length > 0 && chosen.length === deps.length ? [...new Set(chosen)] : [text.trim()]
}

function optionIn(text: string, question: QuestionShown | undefined): string | undefined {
  const reply = plain(text)
  const options = question?.options ?? []
  const named = options.find(
    ({ label, description }) => plain(label) === reply || plain(description) === reply,
  )
  return named?.label ?? (/^[1-9]\d*$/.test(reply) ? options[Number(reply) - 1]?.label : undefined)
}

/** Strips trailing punctuation, in linear time. */
function plain(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/(?<![.!])[.!]+$/, '')
}
