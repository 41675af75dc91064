import type { Writable } from 'node:stream'
import type { Asking, AskPerson } from '../../attend/attend.ts'
import { escapeInvisible } from '../../client/approval-fields.ts'
import type { RequestOpened } from '../../model/events/request.ts'
import type { AnswerCommand, RequestOption } from '../../model/index.ts'
import type { TerminalView } from '../render/view.ts'
import { prompted } from './guarded-prompt.ts'
import type { Keyboard } from './keyboard.ts'
import { decideByKey, viewWhole } from './permission-keys.ts'
import { askQuestions } from './question-form.ts'
import { prompts, type QuestionPlace } from './question-prompt.ts'

/** The options to show if the agent offers none. */
const ALLOW_OR_DENY: readonly RequestOption[] = [
  { id: 'allow', label: 'Allow once', effect: 'allow', scope: 'once' },
  { id: 'deny', label: 'Deny', effect: 'deny', scope: 'once' },
]

function optionsOf(request: RequestOpened): readonly RequestOption[] {
  return request.options.length === 0 ? ALLOW_OR_DENY : request.options
}

function decide({ requestId }: RequestOpened, { effect, scope }: RequestOption): AnswerCommand {
  return { type: 'answer', requestId, decision: effect, scope }
}

/** Approves every permission once, and chooses the first option of each question. */
export async function agreeable(
  request: RequestOpened,
  { refused }: Pick<Asking, 'refused'> = {},
): Promise<AnswerCommand | undefined> {
  if (refused) throw refused
  const { requestId, questions = [] } = request
  if (request.kind === 'question') {
    const answers = Object.fromEntries(questions.map(({ id, options }) => [id, [options[0]?.label ?? 'yes']]))
    return { type: 'answer', requestId, decision: 'answered', answers }
  }
  const allowing = optionsOf(request).filter((option) => option.effect === 'allow')
  const option = allowing.find(({ scope }) => scope === 'once') ?? allowing[0]
  return option && decide(request, option)
}

/** The terminal where a person is asked. */
export interface Desk {
  keyboard: Keyboard
  output: Writable
  /** The view that has shown the request. */
  view: TerminalView
  print(text: string): Promise<void>
}

/** Prompts in the terminal. Escape gives no answer. Ctrl-C is a signal, which interrupts the turn. */
export function askAt(desk: Desk): AskPerson {
  return async (request, { signal, waiting, refused }) => {
    const place = { ...desk, signal, waiting, reason: () => reasonFrom({ ...desk, signal }) }
    if (refused) await desk.print(`  refused: ${escapeInvisible(refused.message)}\n`)
    if (request.kind !== 'question') return decideByKey(request, place)
    if (!(await viewWhole(request, place))) return undefined
    const answers = await askQuestions(request.questions ?? [], place)
    return answers && { type: 'answer', requestId: request.requestId, decision: 'answered', answers }
  }
}

async function reasonFrom(place: QuestionPlace): Promise<string | undefined> {
  const { isCancel, text } = await prompts()
  const given = await prompted(place, 'text', (terminal) =>
    text({ ...terminal, message: 'Why not? The agent reads it.' }),
  )
  return isCancel(given) ? undefined : given
}
