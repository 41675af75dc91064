import { SCENARIOS, type Scenario } from '../src/testing/index.ts'

/** Creates the file `running`, and continues when the file `go` exists. */
const WAIT = 'touch running; until [ -e go ]; do sleep 0.05; done'

/** Ends when the file `go` exists, and after a second for programs that start one call after the other. */
const WAIT_BRIEFLY = 'for i in 1 2 3 4 5 6 7 8 9 10; do [ -e go ] || sleep 0.1; done'

/** The `Retry-After` of a refusal. Some programs retry only after it. */
const once = (status: number, wait?: { readonly retryAfterSeconds: number }): Scenario => ({
  replies: [{ text: `It worked after ${status}.`, faults: [{ kind: 'status', status, times: 1, ...wait }] }],
})

/** Lines of six digits; a megabyte in which no part looks like another. */
export const BIG_OUTPUT = { first: 100_000, last: 249_795, command: 'seq 100000 249795' }

/** Five megabytes, more than programs keep. */
export const HUGE_OUTPUT = { first: 1_000_000, last: 1_655_359, command: 'seq 1000000 1655359' }

/** What `touches` writes to its output; the command itself does not contain it. */
export const TOUCHED = 'made-42'

/** Counts that no two replies share, so that a missing or repeated one shows in every sum. */
const plain = (input: number, output: number) => ({
  input,
  output,
  cacheRead: 0,
  cacheWrite: 0,
  reasoning: 0,
})

/** Scripts beside the ready-made scenarios of the scripted model. */
export const SCRIPTS = {
  /** A file shows that the command is running, because not every program reports it. */
  hang: {
    replies: [
      { text: 'It takes a while.', calls: [{ do: 'shell', command: 'touch running; tail -f /dev/null' }] },
      { text: 'It was stopped.' },
    ],
  },
  waits: {
    replies: [{ calls: [{ do: 'shell', command: WAIT }] }, { text: 'It went on.' }],
  },
  /** The same question twice: the second is answered already if the first answer was for the session. */
  twice: {
    replies: [
      { calls: [{ do: 'shell', command: 'touch permission.txt', escalate: true }] },
      { calls: [{ do: 'shell', command: 'touch permission.txt', escalate: true }] },
      { text: 'Both are done.' },
    ],
  },
  /** Two model calls with plain counts. */
  counted: {
    replies: [
      { usage: plain(211, 17), calls: [{ do: 'shell', command: 'echo counted' }] },
      { usage: plain(307, 29), text: 'It is counted.' },
    ],
  },
  /** Two model calls with cached and reasoning tokens. */
  'counted-details': {
    replies: [
      {
        usage: { input: 211, output: 37, cacheRead: 41, cacheWrite: 13, reasoning: 7 },
        calls: [{ do: 'shell', command: 'echo counted' }],
      },
      {
        usage: { input: 307, output: 59, cacheRead: 83, cacheWrite: 19, reasoning: 11 },
        text: 'It is counted.',
      },
    ],
  },
  /** Five model calls of equal cost. */
  spends: {
    replies: [
      ...['one', 'two', 'three', 'four'].map((word) => ({
        usage: plain(1000, 100),
        calls: [{ do: 'shell' as const, command: `echo ${word}` }],
      })),
      { usage: plain(1000, 100), text: 'All is spent.' },
    ],
  },
  delegates: {
    replies: [
      {
        usage: plain(211, 17),
        text: 'I delegate this.',
        calls: [{ do: 'delegate', task: 'SCENARIO:delegated Do the inner job.' }],
      },
      { usage: plain(223, 19), calls: [{ do: 'join' }] },
      { usage: plain(307, 29), text: 'The sub-agent is done.' },
    ],
  },
  delegated: {
    replies: [
      {
        usage: plain(1009, 101),
        thinking: 'An inner thought.',
        calls: [{ do: 'shell', command: 'echo inner-output' }],
      },
      { usage: plain(2003, 211), text: 'The inner result.' },
    ],
  },
  /** The file does not exist: the third call fails, and its failure belongs to no other call. */
  'parallel-tools': {
    replies: [
      {
        calls: [
          { do: 'shell', command: `${WAIT_BRIEFLY}; echo first-output` },
          { do: 'shell', command: 'echo second-output' },
          { do: 'read', path: 'missing.txt' },
        ],
      },
      { text: 'All calls ended.' },
    ],
  },
  'big-lines': {
    replies: [{ calls: [{ do: 'shell', command: BIG_OUTPUT.command }] }, { text: 'That was a lot.' }],
  },
  'huge-lines': {
    replies: [{ calls: [{ do: 'shell', command: HUGE_OUTPUT.command }] }, { text: 'That was a lot.' }],
  },
  /** A file shows that the command ran, independently of the reports of the program. */
  touches: {
    replies: [
      { calls: [{ do: 'shell', command: `touch ran.txt; echo made-''42` }] },
      { text: 'It was asked to run.' },
    ],
  },
  /** More than any program keeps beside a summary. Some end a turn that repeats one word. */
  lengthy: {
    replies: [{ text: `${Array.from({ length: 12_000 }, (_, index) => `word ${index}`).join(' ')} end` }],
  },
  /** Only the first reply follows the prompt: a goal has no message of a person, and continues after it. */
  goal: {
    replies: [
      { text: 'It is prepared.' },
      { calls: [{ do: 'shell', command: 'touch ran.txt' }] },
      { text: 'The goal is reached.' },
    ],
  },
  write: {
    replies: [
      { calls: [{ do: 'write', path: 'hello.txt', content: 'alpha\nbeta\n' }] },
      { text: 'The file is written.' },
    ],
  },
  /** Reads first, because some programs refuse to change a file that they have not read. */
  edit: {
    replies: [
      { calls: [{ do: 'read', path: 'old.txt' }] },
      { calls: [{ do: 'edit', path: 'old.txt', from: 'beta', to: 'gamma' }] },
      { text: 'The file is changed.' },
    ],
  },
  'after-429': once(429, { retryAfterSeconds: 1 }),
  'after-500': once(500),
  'after-529': once(529),
} satisfies Record<string, Scenario>

/** The text of the model in a predefined scenario. */
export function scriptedText(scenario: keyof typeof SCENARIOS, reply = 0): string {
  const { replies }: Scenario = SCENARIOS[scenario]
  return replies[reply]?.text ?? ''
}
