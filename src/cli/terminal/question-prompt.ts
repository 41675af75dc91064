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
export async function askQuestion(
  asked: Question,
  place: QuestionPlace,
  number: string,
): Promise<string[] | undefined> {
  const message = onOneLine(`${number}${asked.header ?? asked.text}`)
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

interface Offered {
  value: number
  label: string
  hint?: string
}

/** The options by their place. */
async function chosen(
  { options, other, multiple }: Question,
  message: string,
  place: QuestionPlace,
): Promise<number[] | undefined> {
  const offered: Offered[] = options.map(({ label, description }, value) => ({
    value,
    label,
    ...(description !== undefined && { hint: onOneLine(description) }),
  }))
  if (other) offered.push({ value: OTHER, label: 'Something else' })
  if (!multiple) {
    const given = await pick(message, offered, place)
    return given === undefined ? undefined : [given]
  }
  const { isCancel, multiselect } = await prompts()
  const given = await prompted(place, 'choice', (terminal) =>
    multiselect({ ...terminal, message, options: offered.map(shown) }),
  )
  return isCancel(given) ? undefined : given
}

/** One of the values. None is selected at first. Undefined if the person cancels. */
export async function pick(
  message: string,
  offered: readonly Offered[],
  place: QuestionPlace,
): Promise<number | undefined> {
  const { isCancel, select } = await prompts()
  const options = [{ value: NONE, label: 'Choose with the arrow keys' }, ...offered.map(shown)]
  for (;;) {
    const given = await prompted(place, 'choice', (terminal) => select({ ...terminal, message, options }))
    if (isCancel(given)) return undefined
    if (given !== NONE) return given
  }
}

const shown = (one: Offered): Offered => ({ ...one, label: onOneLine(one.label) })

/** A line break could forge output. */
export function onOneLine(text: string): string {
  return escapeInvisible(text).replaceAll(/[\n\t]+/g, ' ')
}
