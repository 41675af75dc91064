import type { Writable } from 'node:stream'
import type { AskPerson } from '../../attend/attend.ts'
import type { RequestOpened } from '../../model/events/request.ts'
import type { AnswerCommand, Question, RequestOption } from '../../model/index.ts'
import { printableLine } from '../render/printable.ts'
import { requestCard } from '../render/request-card.ts'
import type { TerminalView } from '../render/view.ts'
import { prompted } from './guarded-prompt.ts'
import type { Keyboard } from './keyboard.ts'
import { decideByKey } from './permission-keys.ts'

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
export async function agreeable(request: RequestOpened): Promise<AnswerCommand | undefined> {
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
  return async (request, { signal, waiting }) => {
    const place = { ...desk, signal }
    if (request.kind !== 'question') {
      const reason = () => reasonFrom(place)
      return decideByKey(request, { ...place, waiting, reason })
    }
    // The prompt repeats the heading of a question, but not who asks and how many others do.
    if (waiting > 0 || request.parent !== undefined)
      await desk.print(requestCard(desk.view, request).label(waiting))
    const answers: Record<string, string[]> = {}
    for (const one of request.questions ?? []) {
      const given = await question(one, place)
      if (given === undefined) return undefined
      answers[one.id] = given
    }
    return { type: 'answer', requestId: request.requestId, decision: 'answered', answers }
  }
}

interface AskPlace extends Desk {
  signal: AbortSignal
}

async function reasonFrom(place: AskPlace): Promise<string | undefined> {
  const { isCancel, text } = await prompts()
  const given = await prompted(place, 'text', (terminal) =>
    text({ ...terminal, message: 'Why not? The agent reads it.' }),
  )
  return isCancel(given) ? undefined : given
}

const OTHER = -1

/** Imported on the first prompt, because most turns have none. */
const prompts = () => import('@clack/prompts')

async function question(asked: Question, place: AskPlace): Promise<string[] | undefined> {
  const { isCancel, multiselect, password, select, text } = await prompts()
  const message = printableLine(asked.header ?? asked.text)
  const free = async () => {
    const given = await prompted(place, 'text', (terminal) =>
      asked.secret ? password({ ...terminal, message }) : text({ ...terminal, message }),
    )
    return isCancel(given) ? undefined : [given]
  }
  if (asked.options.length === 0) return free()
  const options = asked.options.map(({ label, description }, value) => ({
    value,
    label: printableLine(label),
    ...(description !== undefined && { hint: printableLine(description) }),
  }))
  if (asked.other) options.push({ value: OTHER, label: 'Something else' })
  const chosen = await prompted(place, 'choice', async (terminal) =>
    asked.multiple
      ? multiselect({ ...terminal, message, options })
      : select({ ...terminal, message, options }),
  )
  if (isCancel(chosen)) return undefined
  const picked = Array.isArray(chosen) ? chosen : [chosen]
  const labels = picked.flatMap((index) => asked.options[index]?.label ?? [])
  if (!picked.includes(OTHER)) return labels
  const more = await free()
  return more && [...labels, ...more]
}
