import type { Scenario } from '../src/testing/index.ts'

/** Goes on when the file `go` is there; `running` tells that it waits. */
const WAIT = 'touch running; until [ -e go ]; do sleep 0.05; done'

/** Whoever turns a caller away for a while says for how long; some programs come back only then. */
const once = (status: number, wait?: { readonly retryAfterSeconds: number }): Scenario => ({
  replies: [{ text: `It worked after ${status}.`, faults: [{ kind: 'status', status, times: 1, ...wait }] }],
})

/** What the scripted model plays besides its ready-made scenarios. */
export const SCRIPTS = {
  /** A file tells that the command runs, because not every program does. */
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
  write: {
    replies: [
      { calls: [{ do: 'write', path: 'hello.txt', content: 'alpha\nbeta\n' }] },
      { text: 'The file is written.' },
    ],
  },
  /** Reads first, because some programs refuse to change what they have not read. */
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
