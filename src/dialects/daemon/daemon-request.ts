import * as z from 'zod'
import type { RequestOpened } from '../../model/events/request.ts'
import type { Question } from '../../model/index.ts'
import { subjectOf } from '../kit/request-subject.ts'

/** The tool name that this dialect reserves for a question to a person. */
export const QUESTION_TOOL = 'AskUserQuestion'

const AskedOption = z.strictObject({ label: z.string(), description: z.string() })

export const AskedQuestion = z.strictObject({
  header: z.string().describe('the question'),
  options: z.array(AskedOption),
  multiSelect: z.boolean(),
})
type AskedQuestion = z.infer<typeof AskedQuestion>

const WrittenOption = z.union([
  z.string().transform((label) => ({ label })),
  z.object({ label: z.string(), description: z.string().optional() }),
  z.object({ description: z.string() }).transform(({ description }) => ({ label: description })),
])

const WrittenQuestion = z
  .object({
    question: z.string().optional(),
    header: z.string().optional(),
    options: z.array(WrittenOption).catch([]),
    multiSelect: z.boolean().optional().catch(undefined),
  })
  .refine(({ question, header }) => question !== undefined || header !== undefined)

/** The input of a question call as agents write it, or as this dialect does: a list whose `header` is the question. */
const QuestionInput = z.union([
  z.array(WrittenQuestion).transform((questions) => ({ questions })),
  z.object({ questions: z.array(WrittenQuestion) }),
])

/** Converts an open request into question form; a permission becomes a question with Allow and Deny options. */
export function questionsOf(request: RequestOpened): AskedQuestion[] {
  const { questions } = request
  if (questions && questions.length > 0) return questions.map(asked)
  return [{ header: headerOf(request), options: [option('Allow'), option('Deny')], multiSelect: false }]
}

/** Reads the questions of a call; returns an empty list when the input is not a list of questions. */
export function questionsIn(input: unknown): AskedQuestion[] {
  const { questions } = QuestionInput.safeParse(input).data ?? { questions: [] }
  return questions.map(({ question, header = '', options, multiSelect }) =>
    asked({ id: '', text: question ?? header, options, multiple: multiSelect }),
  )
}

function asked({ text, options, multiple }: Question): AskedQuestion {
  return {
    header: text,
    options: options.map(({ label, description }) => option(label, description)),
    multiSelect: multiple === true,
  }
}

/** Clients may show the description alone, so it includes the label once. */
function option(label: string, description?: string): z.infer<typeof AskedOption> {
  if (!description) return { label, description: label }
  return { label, description: isNamed(description, label) ? description : `${label} (${description})` }
}

/** Returns whether the description starts with the label as a whole word. */
function isNamed(description: string, label: string): boolean {
  if (!description.toLowerCase().startsWith(label.toLowerCase())) return false
  return !/^[\p{L}\p{N}]/u.test(description.slice(label.length))
}

function headerOf(request: RequestOpened): string {
  const { kind, title } = request
  switch (kind) {
    case 'permission': {
      const about = subjectOf(request)
      // Some agents already phrase the title as a question. The lookbehind keeps the replacement linear for any number
      // of question marks.
      return about === '' ? 'Allow this?' : `Allow ${about.replace(/(?<!\?)\?+$/, '')}?`
    }
    case 'plan':
      return 'Approve this plan?'
    case 'login':
      return title ?? 'The agent needs a login. Continue?'
    case 'question':
      return title ?? 'Go on?'
    default:
      return kind satisfies never
  }
}
