import type { Writable } from 'node:stream'
import { escapeInvisible } from '../../client/approval-fields.ts'
import type { Question } from '../../model/index.ts'
import { prompted } from './guarded-prompt.ts'
import type { Keyboard } from './keyboard.ts'

/** Where a question is asked. */
export interface QuestionPlace {
  keyboard: Keyboard
  output: Writable
  signal: AbortSignal
}

/** Imported on the first prompt, because most turns have none. */
export const prompts = () => import('@clack/prompts')

const OTHER = -1
/** Selected at first, so that a key that was meant for something else chooses nothing. */
const NONE = -2

/** Asks one question of a request that has been shown whole. Undefined if the person cancels. */
export async function askQuestion(asked: Question, place: QuestionPlace): Promise<string[] | undefined> {
  const message = onOneLine(asked.header ?? asked.text)
  if (asked.options.length === 0) return freeText(asked, message, place)
  const picked = await chosen(asked, message, place)
  if (!picked) return undefined
  const labels = picked.flatMap((index) => asked.options[index]?.label ?? [])
  if (!picked.includes(OTHER)) return labels
  const more = await freeText(asked, message, place)
  return more && [...labels, ...more]
}

async function freeText(
  { secret }: Question,
  message: string,
  place: QuestionPlace,
): Promise<string[] | undefined> {
  const { isCancel, password, text } = await prompts()
  const validate = (given = '') =>
    given.trim() === '' ? 'Type an answer, or press Escape to give none.' : undefined
  const given = await prompted(place, 'text', (terminal) =>
    secret ? password({ ...terminal, message, validate }) : text({ ...terminal, message, validate }),
  )
  return isCancel(given) ? undefined : [given]
}

/** The options by their place. */
async function chosen(
  { options, other, multiple }: Question,
  message: string,
  place: QuestionPlace,
): Promise<number[] | undefined> {
  const { isCancel, multiselect, select } = await prompts()
  const offered = options.map(({ label, description }, value) => ({
    value,
    label: onOneLine(label),
    ...(description !== undefined && { hint: onOneLine(description) }),
  }))
  if (other) offered.push({ value: OTHER, label: 'Something else' })
  const none = { value: NONE, label: 'Choose with the arrow keys' }
  for (;;) {
    const given = await prompted(place, 'choice', async (terminal) =>
      multiple
        ? multiselect({ ...terminal, message, options: offered })
        : select({ ...terminal, message, options: [none, ...offered] }),
    )
    if (isCancel(given)) return undefined
    if (given !== NONE) return Array.isArray(given) ? given : [given]
  }
}

/** A line break could forge output. */
function onOneLine(text: string): string {
  return escapeInvisible(text).replaceAll(/[\n\t]+/g, ' ')
}
