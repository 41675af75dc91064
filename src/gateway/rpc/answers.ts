import { questionsOf } from '../../dialects/daemon-request.ts'
import type { RequestOpened } from '../../model/events/request.ts'
import { type AnswerCommand, Scope } from '../../model/index.ts'

/** What is taken for Allow and Deny, the two answers that are shown; also by their numbers. */
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

type Shown = ReturnType<typeof questionsOf>[number]

/** What a person's message says to what the agent asks. */
export function answerIn(message: string, request: RequestOpened): AnswerCommand {
  const { requestId, questions = [] } = request
  if (questions.length === 0) return decisionIn(message, request)
  const shown = questionsOf(request)
  // A line for each question, or the same words for all of them.
  const lines = message.split('\n').filter((line) => line.trim() !== '')
  const own = lines.length === questions.length
  const answers = questions.map(({ id }, index) => [
    id,
    chosenIn((own && lines[index]) || message, shown[index]),
  ])
  return { type: 'answer', requestId, decision: 'answered', answers: Object.fromEntries(answers) }
}

/** Does the message say nothing but which of the shown answers it is? */
export function isPlainAnswer(message: string, request: RequestOpened): boolean {
  const said = plain(message)
  if (!request.questions?.length) return YES.has(said) || NO.has(said)
  return questionsOf(request).some((question) => optionIn(message, question) !== undefined)
}

/** Only a clear yes is one. Whatever else was said is a no, and the agent hears the words. */
function decisionIn(message: string, { requestId, options }: RequestOpened): AnswerCommand {
  const said = plain(message)
  if (YES.has(said)) {
    const scopes = options.filter(({ effect }) => effect === 'allow').map(({ scope }) => scope)
    const narrowest = Scope.options.find((scope) => scopes.includes(scope)) ?? 'once'
    return { type: 'answer', requestId, decision: 'allow', scope: narrowest }
  }
  if (NO.has(said)) return { type: 'answer', requestId, decision: 'deny' }
  const named = options.find(({ label }) => plain(label) === said)
  if (named) return { type: 'answer', requestId, decision: named.effect, scope: named.scope }
  return { type: 'answer', requestId, decision: 'deny', message }
}

/** Options by name or number; anything else is an answer in the person's own words. */
function chosenIn(text: string, question: Shown | undefined): string[] {
  const whole = optionIn(text, question)
  if (whole !== undefined) return [whole]
  const deps = question?.multiSelect ? text.split(/[,;\n]/).map((part) => optionIn(part, question)) : []
  const chosen = deps.filter((part) => part !== undefined)
  return chosen.length > 0 && chosen.length === deps.length ? [...new Set(chosen)] : [text.trim()]
}

function optionIn(text: string, question: Shown | undefined): string | undefined {
  const said = plain(text)
  const options = question?.options ?? []
  const named = options.find(({ label, description }) => plain(label) === said || plain(description) === said)
  return named?.label ?? (/^[1-9]\d*$/.test(said) ? options[Number(said) - 1]?.label : undefined)
}

/** Without the marks at its end, which are looked for once, however many others there are. */
function plain(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/(?<![.!])[.!]+$/, '')
}
