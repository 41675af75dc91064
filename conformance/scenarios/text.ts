import { z } from 'zod'
import type { Scenario } from '../scenario.ts'
import { eventsOf, must, type Told } from '../stage.ts'

const HELLO = 'Hello from the scripted model. This text comes in several pieces.'

/** A picture of one point. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** The turn went well, and its last words are these. */
export function completes({ outcome, text, error }: Told, said: string): void {
  const why = error === undefined ? '' : ` (${error.code}: ${error.message})`
  must(outcome === 'completed', `the outcome is ${outcome}${why}`)
  must(text.trim() === said.trim(), `the answer is ${JSON.stringify(text.slice(0, 200))}`)
}

export const TEXT: readonly Scenario[] = [
  {
    id: 'text',
    title: 'Answers with the text of the model',
    async play(stage) {
      completes(await stage.turn(await stage.session(), 'text'), HELLO)
    },
  },
  {
    id: 'deltas',
    title: 'Text in pieces, as it comes',
    inShort: 'Text as it comes',
    capability: 'deltas',
    inCi: true,
    async play(stage) {
      const told = await stage.turn(await stage.session(), 'text')
      completes(told, HELLO)
      must(eventsOf(told.events, 'text.delta').length > 1, 'the text came in one piece')
    },
  },
  {
    id: 'thinking',
    title: 'Thinking',
    inShort: 'Thinking',
    capability: 'thinking',
    async play(stage) {
      const told = await stage.turn(await stage.session(), 'thinking')
      completes(told, 'It is 42.')
      const thoughts = eventsOf(told.events, 'thinking.completed').map(({ text }) => text)
      must(thoughts.join('').includes('Let me think'), 'no thought was told')
    },
  },
  {
    id: 'unicode',
    title: 'Every letter and sign intact',
    async play(stage) {
      const told = await stage.turn(await stage.session(), 'unicode')
      completes(told, 'Unicode is fine 🚀 ✅ e\u0301')
      const said = eventsOf(told.events, 'text.completed').map(({ text }) => text)
      must(said.join('').includes('Grüße 👩‍👩‍👧‍👦 你好 \u2028 a line'), `it said ${JSON.stringify(said)}`)
      const output = eventsOf(told.events, 'tool.completed')[0]?.output
      must(!output || output.includes('héllo 🚀'), `the tool said ${JSON.stringify(output)}`)
    },
  },
  {
    id: 'structured',
    title: 'Structured output',
    inShort: 'Structured output',
    capability: 'structuredOutput',
    async play(stage) {
      const output = z.object({ name: z.string(), age: z.number() })
      const session = await stage.session({ output })
      const { outcome, structured } = await stage.turn(session, 'structured')
      must(outcome === 'completed', `the outcome is ${outcome}`)
      must(structured?.name === 'Ada' && structured.age === 36, 'the answer is not what was asked for')
    },
  },
  {
    id: 'images',
    title: 'Pictures in a prompt',
    capability: 'images',
    async play(stage) {
      const images = [{ mimeType: 'image/png', data: PNG }]
      completes(await stage.turn(await stage.session(), 'text', { images }), HELLO)
      must(stage.asked.includes(PNG.slice(0, 40)), 'the model was not shown the picture')
    },
  },
  {
    id: 'usage',
    title: 'Tokens used',
    capability: 'usage',
    async play(stage) {
      const { usage } = await stage.turn(await stage.session(), 'text')
      must((usage?.input ?? 0) > 0 && (usage?.output ?? 0) > 0, `usage is ${JSON.stringify(usage)}`)
    },
  },
  {
    id: 'cost',
    title: 'What it cost',
    inShort: 'Cost',
    capability: 'cost',
    async play(stage) {
      const { usage } = await stage.turn(await stage.session(), 'text')
      must((usage?.costUsd ?? 0) > 0, `usage is ${JSON.stringify(usage)}`)
    },
  },
]
