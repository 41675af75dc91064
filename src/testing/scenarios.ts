import type { Scenario, ScriptedPlanItem } from './scenario.ts'

const PLAN = ['Look at the code', 'Change it', 'Test it']

function planned(...statuses: ScriptedPlanItem['status'][]): ScriptedPlanItem[] {
  return PLAN.map((text, index) => ({ text, status: statuses[index] ?? 'pending' }))
}

/** Different words, because some programs report a repeated word as a loop. */
const MANY_WORDS = Array.from({ length: 400 }, (_, index) => `word${index} `).join('')

const HELLO = 'Hello from the scripted model. This text comes in several pieces.'

/** Predefined scenarios. Select one with `SCENARIO:<name>` anywhere in the prompt, for example `SCENARIO:text`. */
export const SCENARIOS = {
  /** Text in pieces. */
  text: { replies: [{ text: HELLO }] },
  thinking: {
    replies: [{ thinking: 'Let me think about this step by step. First A, then B.', text: 'It is 42.' }],
  },
  /** A command that succeeds. */
  shell: {
    replies: [
      { text: 'I will run that.', calls: [{ do: 'shell', command: 'echo one; echo two 1>&2' }] },
      { text: 'The command succeeded.' },
    ],
  },
  'shell-fails': {
    replies: [
      { calls: [{ do: 'shell', command: 'echo partial; exit 3' }] },
      { text: 'The command failed with 3.' },
    ],
  },
  /** Two calls in one reply. */
  parallel: {
    replies: [
      {
        text: 'Two at once.',
        calls: [
          { do: 'shell', command: 'echo one' },
          { do: 'shell', command: 'echo two' },
        ],
      },
      { text: 'Both are done.' },
    ],
  },
  /** Writes a file, changes it, and reads it again. */
  files: {
    replies: [
      { calls: [{ do: 'write', path: 'hello.txt', content: 'alpha\nbeta\n' }] },
      { calls: [{ do: 'edit', path: 'hello.txt', from: 'beta', to: 'gamma' }] },
      { calls: [{ do: 'read', path: 'hello.txt' }] },
      { text: 'The file is written and changed.' },
    ],
  },
  /** A plan and its progress. */
  plan: {
    replies: [
      { calls: [{ do: 'plan', items: planned() }] },
      { calls: [{ do: 'plan', items: planned('completed', 'in_progress') }] },
      { text: 'The plan is under way.' },
    ],
  },
  /** Calls the tool `echo` of an MCP server named `demo`. */
  mcp: {
    replies: [
      { calls: [{ do: 'mcp', server: 'demo', tool: 'echo', input: { text: 'hello' } }] },
      { text: 'The server answered.' },
    ],
  },
  subagent: {
    replies: [
      { text: 'I hand this over.', calls: [{ do: 'delegate', task: 'SCENARIO:inner Do the inner job.' }] },
      { calls: [{ do: 'join' }] },
      { text: 'The sub-agent is done.' },
    ],
  },
  /** The conversation of the sub-agent. */
  inner: {
    replies: [
      { thinking: 'An inner thought.', calls: [{ do: 'shell', command: 'echo inner' }] },
      { text: 'The inner result.' },
    ],
  },
  /** A command that needs approval: it writes, and requests rights beyond the sandbox. */
  permission: {
    replies: [
      { calls: [{ do: 'shell', command: 'echo asked > permission.txt', escalate: true }] },
      { text: 'I have seen the decision.' },
    ],
  },
  question: {
    replies: [
      { calls: [{ do: 'ask', question: 'Which colour?', options: ['Red', 'Blue'] }] },
      { text: 'I have seen the answer.' },
    ],
  },
  /** A plan that needs approval, in programs with a plan mode. */
  proposal: {
    replies: [
      { calls: [{ do: 'propose', plan: '1. Do A\n2. Do B' }] },
      { text: 'I have seen the decision on the plan.' },
    ],
  },
  /** Twenty seconds of text, to test interrupts. */
  long: { replies: [{ text: MANY_WORDS, deltas: 400, paceMs: 50 }] },
  /** Streams some text, then pauses until `release()`. */
  stall: { replies: [{ text: HELLO, faults: [{ kind: 'stall' }] }] },
  /** A command that runs until it is stopped. */
  'shell-hangs': {
    replies: [
      { calls: [{ do: 'shell', command: 'echo started; tail -f /dev/null' }] },
      { text: 'It was stopped.' },
    ],
  },
  /** Never ends by itself. */
  endless: {
    endless: true,
    replies: [{ text: 'One more step.', calls: [{ do: 'shell', command: 'echo step' }] }],
  },
  unauthorized: { replies: [{ faults: [{ kind: 'status', status: 401 }] }] },
  forbidden: { replies: [{ faults: [{ kind: 'status', status: 403 }] }] },
  'no-model': { replies: [{ faults: [{ kind: 'status', status: 404 }] }] },
  'rate-limited': { replies: [{ faults: [{ kind: 'status', status: 429, retryAfterSeconds: 1 }] }] },
  fails: { replies: [{ faults: [{ kind: 'status', status: 500 }] }] },
  overloaded: { replies: [{ faults: [{ kind: 'status', status: 529 }] }] },
  /** One error, then the reply. */
  retry: { replies: [{ text: 'It worked at last.', faults: [{ kind: 'status', status: 500, times: 1 }] }] },
  drop: { replies: [{ text: HELLO, faults: [{ kind: 'drop' }] }] },
  'drop-once': { replies: [{ text: HELLO, faults: [{ kind: 'drop', times: 1 }] }] },
  'drop-early': { replies: [{ text: HELLO, faults: [{ kind: 'drop', after: 0 }] }] },
  truncate: { replies: [{ text: HELLO, faults: [{ kind: 'truncate', times: 1 }] }] },
  garble: { replies: [{ text: HELLO, faults: [{ kind: 'garble', times: 1 }] }] },
  'stream-error': { replies: [{ text: HELLO, faults: [{ kind: 'error', times: 1 }] }] },
  /** Endless, because some programs ask the model to continue. */
  length: { endless: true, replies: [{ text: 'This text is cut off in the mid', stop: 'length' }] },
  refusal: { endless: true, replies: [{ text: 'I cannot.', stop: 'refusal' }] },
  /** Unusual letters, symbols and separators, from the model and from a tool. */
  unicode: {
    replies: [
      {
        text: 'Grüße 👩‍👩‍👧‍👦 你好 \u2028 a line separator',
        calls: [{ do: 'shell', command: `printf 'h\\303\\251llo \\360\\237\\232\\200 \\377\\376 bytes\\n'` }],
      },
      { text: 'Unicode is fine 🚀 ✅ e\u0301' },
    ],
  },
  /** A tool that writes 1 MiB. */
  'big-output': {
    replies: [
      { calls: [{ do: 'shell', command: `head -c 1048576 /dev/zero | tr '\\0' 'x'` }] },
      { text: 'That was a lot.' },
    ],
  },
  structured: { replies: [{ structured: { name: 'Ada', age: 36 } }] },
  /** A tool that no program has. */
  'unknown-tool': {
    replies: [{ calls: [{ name: 'no_such_tool', input: { a: 1 } }] }, { text: 'There is no such tool.' }],
  },
} satisfies Record<string, Scenario>
