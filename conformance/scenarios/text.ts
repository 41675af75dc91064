import * as z from 'zod'
import type { Scenario } from '../scenario.ts'
import { scriptedText } from '../scripts.ts'
import { eventsOf, type FinishedTurn, must } from '../stage.ts'

export const HELLO = scriptedText('text')

const THOUGHT = 'Let me think about this step by step. First A, then B.'

/** A picture of one pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** The turn completed, and this is its answer. */
export function completes({ outcome, text, error }: FinishedTurn, answer: string): void {
  const why = error === undefined ? '' : ` (${error.code}: ${error.message})`
  must(outcome === 'completed', `the outcome is ${outcome}${why}`)
  must(text.trim() === answer.trim(), `the answer is ${JSON.stringify(text.slice(0, 200))}`)
}

export const TEXT: readonly Scenario[] = [
  {
    id: 'text',
    title: 'Text answer',
    effect: 'the text of the model, whole and once',
    async play(stage) {
      const told = await stage.turn(await stage.session(), 'text')
      completes(told, HELLO)
      const texts = eventsOf(told.events, 'text.completed').map(({ text }) => text)
      must(texts.join('|') === HELLO, `the texts are ${JSON.stringify(texts)}`)
    },
  },
  {
    id: 'deltas',
    title: 'Streamed text',
    effect: 'the deltas add up to the text of the model',
    inShort: 'Streamed text',
    capability: 'deltas',
    inCi: true,
    async play(stage) {
      const told = await stage.turn(await stage.session(), 'text')
      completes(told, HELLO)
      const deltas = eventsOf(told.events, 'text.delta').map(({ text }) => text)
      must(deltas.length > 1, `the text came in ${deltas.length === 1 ? 'one delta' : 'no deltas'}`)
      must(deltas.join('') === HELLO, `the deltas are ${JSON.stringify(deltas)}`)
    },
  },
  {
    id: 'thinking',
    title: 'Thinking',
    effect: 'the thinking of the model, whole',
    inShort: 'Thinking',
    capability: 'thinking',
    async play(stage) {
      const told = await stage.turn(await stage.session(), 'thinking')
      completes(told, 'It is 42.')
      const thoughts = eventsOf(told.events, 'thinking.completed').map(({ text }) => text)
      must(thoughts.length > 0, 'no thinking was reported')
      // Gemini CLI puts a heading and a line break before each piece.
      const letters = (text: string) => text.replace(/[*\s]/g, '')
      const isWhole = letters(thoughts.join('')) === letters(THOUGHT)
      must(isWhole, `the thinking is ${JSON.stringify(thoughts)}`)
    },
  },
  {
    id: 'unicode',
    title: 'Unicode in answers',
    effect: 'every character of the model',
    async play(stage) {
      const told = await stage.turn(await stage.session(), 'unicode')
      const [first, second] = [scriptedText('unicode', 0), scriptedText('unicode', 1)]
      completes(told, second)
      const texts = eventsOf(told.events, 'text.completed').map(({ text }) => text)
      must(texts[0] === first && texts.at(-1) === second, `the texts are ${JSON.stringify(texts)}`)
    },
  },
  {
    id: 'structured',
    title: 'Structured output',
    effect: 'the value of the model, parsed',
    inShort: 'Structured output',
    capability: 'structuredOutput',
    async play(stage) {
      const output = z.object({ name: z.string(), age: z.number() })
      const session = await stage.session({ output })
      const { outcome, structured } = await stage.turn(session, 'structured')
      must(outcome === 'completed', `the outcome is ${outcome}`)
      const isExact = structured?.name === 'Ada' && structured.age === 36
      must(isExact, `the structured answer is ${JSON.stringify(structured)}`)
    },
  },
  {
    id: 'images',
    title: 'Images in prompts',
    effect: 'the model received the image',
    capability: 'images',
    async play(stage) {
      const images = [{ mimeType: 'image/png', data: PNG }]
      completes(await stage.turn(await stage.session(), 'text', { images }), HELLO)
      must(stage.asked.includes(PNG.slice(0, 40)), 'the model did not receive the image')
    },
  },
]
