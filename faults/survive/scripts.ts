import type { Scenario } from '../../src/testing/index.ts'
import type { Moment } from './plan.ts'

/** Words that differ: Gemini stops a model that repeats its text. */
const WORDS = Array.from({ length: 80 }, (_, n) => `word-${n} `).join('')

const LONG: Scenario = { replies: [{ text: `${WORDS}end`, deltas: 80, paceMs: 100 }] }

/** What the model does at each moment. */
export const SCRIPTS: Readonly<Record<Moment, Scenario>> = {
  start: LONG,
  text: LONG,
  // The command ends while no server runs.
  tool: {
    replies: [
      {
        text: 'It takes a while.',
        calls: [
          {
            do: 'shell',
            command: 'touch running; until [ -e go ]; do sleep 0.05; done; echo done > result.txt',
          },
        ],
      },
      { text: 'The tool has ended.' },
    ],
  },
  permission: {
    replies: [
      {
        text: 'I have to ask.',
        calls: [{ do: 'shell', command: 'echo asked > result.txt', escalate: true }],
      },
      { text: 'I have seen the decision.' },
    ],
  },
}

/** All that the model says in a script. */
export function scriptText(moment: Moment): string {
  return SCRIPTS[moment].replies.map(({ text = '' }) => text).join('')
}

/** The content of the file that the script leaves behind. */
export const RESULTS: Readonly<Record<Moment, string | undefined>> = {
  start: undefined,
  text: undefined,
  tool: 'done\n',
  permission: 'asked\n',
}
