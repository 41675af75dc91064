import type { Readable, Writable } from 'node:stream'
import type { RequestOpened } from '../model/events/request.ts'
import type { AnswerCommand, Question, RequestOption } from '../model/index.ts'
import type { Answerer } from './drive.ts'
import { decideByKey } from './permission-keys.ts'
import { printableLine } from './printable.ts'

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
export const agreeable: Answerer = async (request) => {
  const { requestId, questions = [] } = request
  if (request.kind === 'question') {
    const answers = Object.fromEntries(questions.map(({ id, options }) => [id, [options[0]?.label ?? 'yes']]))
    return { type: 'answer', requestId, decision: 'answered', answers }
  }
  const allowing = optionsOf(request).filter((option) => option.effect === 'allow')
  const option = allowing.find(({ scope }) => scope === 'once') ?? allowing[0]
  return option && decide(request, option)
}

/** Prompts in the terminal. Ctrl-C or Escape gives no answer. */
export function askAt(input: Readable, output: Writable): Answerer {
  return async (request, signal) => {
    const terminal = { input, output, signal }
    if (request.kind !== 'question') return permission(request, terminal)
    const answers: Record<string, string[]> = {}
    for (const one of request.questions ?? []) {
      const given = await question(one, terminal)
      if (given === undefined) return undefined
      answers[one.id] = given
    }
    return { type: 'answer', requestId: request.requestId, decision: 'answered', answers }
  }
}

interface Terminal {
  input: Readable
  output: Writable
  signal: AbortSignal
}

async function permission(request: RequestOpened, terminal: Terminal): Promise<AnswerCommand | undefined> {
  const reason = async () => {
    const { isCancel, text } = await prompts()
    const given = await text({ ...terminal, message: 'Why not? The agent reads it.' })
    return isCancel(given) ? undefined : given
  }
  return decideByKey(request, { ...terminal, reason })
}

const OTHER = -1

/** Imported on the first prompt, because most turns have none. */
const prompts = () => import('@clack/prompts')

async function question(asked: Question, terminal: Terminal): Promise<string[] | undefined> {
  const { isCancel, multiselect, password, select, text } = await prompts()
  const message = printableLine(asked.header ?? asked.text)
  const free = async () => {
    const given = await (asked.secret ? password({ ...terminal, message }) : text({ ...terminal, message }))
    return isCancel(given) ? undefined : [given]
  }
  if (asked.options.length === 0) return free()
  const options = asked.options.map(({ label, description }, value) => ({
    value,
    label: printableLine(label),
    ...(description !== undefined && { hint: printableLine(description) }),
  }))
  if (asked.other) options.push({ value: OTHER, label: 'Something else' })
  const chosen = asked.multiple
    ? await multiselect({ ...terminal, message, options })
    : await select({ ...terminal, message, options })
  if (isCancel(chosen)) return undefined
  const picked = typeof chosen === 'number' ? [chosen] : chosen
  const labels = picked.flatMap((index) => asked.options[index]?.label ?? [])
  if (!picked.includes(OTHER)) return labels
  const more = await free()
  return more && [...labels, ...more]
}
