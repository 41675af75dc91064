import { z } from 'zod'
import type { RequestOpened } from '../model/events/request.ts'
import type { Question } from '../model/index.ts'
import { subjectOf } from './request-words.ts'

/** The name that this face keeps for a question to a person. */
export const QUESTION_TOOL = 'AskUserQuestion'

const AskedOption = z.strictObject({ label: z.string(), description: z.string() })

export const AskedQuestion = z.strictObject({
  header: z.string().describe('the question'),
  options: z.array(AskedOption),
  multiSelect: z.boolean(),
})
type AskedQuestion = z.infer<typeof AskedQuestion>

/** The input of a call as agents write it. */
const Asking = z.object({
  questions: z.array(
    z.object({
      question: z.string(),
      options: z.array(z.object({ label: z.string(), description: z.string().optional() })).catch([]),
      multiSelect: z.boolean().optional().catch(undefined),
    }),
  ),
})

/** Whatever the agent waits for, as questions: a permission is one with the answers Allow and Deny. */
export function questionsOf(request: RequestOpened): AskedQuestion[] {
  const { questions } = request
  if (questions && questions.length > 0) return questions.map(asked)
  return [{ header: headerOf(request), options: [option('Allow'), option('Deny')], multiSelect: false }]
}

/** What an agent means to ask, read from its call; nothing when that is no list of questions. */
export function questionsIn(input: unknown): AskedQuestion[] {
  const { questions } = Asking.safeParse(input).data ?? { questions: [] }
  return questions.map(({ question, options, multiSelect }) =>
    asked({ id: '', text: question, options, multiple: multiSelect }),
  )
}

function asked({ text, options, multiple }: Question): AskedQuestion {
  return {
    header: text,
    options: options.map(({ label, description }) => option(label, description)),
    multiSelect: multiple === true,
  }
}

/** Readers may show the description alone, so it names the option too, once. */
function option(label: string, description?: string): z.infer<typeof AskedOption> {
  if (!description) return { label, description: label }
  return { label, description: isNamed(description, label) ? description : `${label} (${description})` }
}

/** Does the description begin with the label, as a word? */
function isNamed(description: string, label: string): boolean {
  if (!description.toLowerCase().startsWith(label.toLowerCase())) return false
  return !/^[\p{L}\p{N}]/u.test(description.slice(label.length))
}

function headerOf(request: RequestOpened): string {
  const { kind, title } = request
  switch (kind) {
    case 'permission': {
      const about = subjectOf(request)
      // Some agents put it as a question themselves. Looked for once, however many marks there are in it.
      return about === '' ? 'Allow this?' : `Allow ${about.replace(/(?<!\?)\?+$/, '')}?`
    }
    case 'plan':
      return 'Approve this plan?'
    case 'login':
      return title ?? 'The agent needs a login. Go on?'
    case 'question':
      return title ?? 'Go on?'
    default:
      return kind satisfies never
  }
}
