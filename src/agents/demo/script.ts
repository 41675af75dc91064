import type { Usage } from '../../model/index.ts'
import { conclude, cue, message, plan, playTime, run, type Scene, think } from './cues.ts'
import {
  ALL_TESTS_PASS,
  CALLERS,
  FEED,
  FEED_DIFF,
  FEED_FIXED,
  PAGINATE,
  PAGINATE_DIFF,
  PAGINATE_FIXED,
  TESTS_FAIL,
  TESTS_PASS,
} from './project.ts'

const STEPS = ['Read the pagination code', 'See a test fail', 'Fix the start index', 'Check the callers']

const PAGINATE_PATH = 'src/paginate.ts'
const FEED_PATH = 'src/routes/feed.ts'

/** One model call; it shares its context with earlier calls, which are read from the cache. */
function used(input: number, cacheRead: number, output: number): Usage {
  const costUsd = Math.round(input * 3 + cacheRead * 0.3 + output * 15) / 1e6
  return { input, cacheRead, output, total: input + cacheRead + output, costUsd }
}

function read(id: string, path: string, output: string, agent?: string): Scene {
  const call = { id, name: 'Read', kind: 'read', title: path, input: { path } } as const
  const more = { locations: [{ path }], ...(agent !== undefined && { agent }) }
  return run({ ...call, ...more }, 1000, { status: 'success', output })
}

function bash(id: string, command: string, ms: number, exitCode: number, output: string): Scene {
  const call = { id, name: 'Bash', kind: 'execute', title: command, input: { command } } as const
  return run(call, ms, { status: exitCode === 0 ? 'success' : 'error', exitCode, output })
}

/** The call up to its approval. */
function edit(id: string, path: string, from: string, to: string): Scene {
  const input = { path, from, to }
  return [
    cue(600, { type: 'call', id, name: 'Edit', kind: 'edit', title: path, input, locations: [{ path }] }),
  ]
}

const opening: Scene = [
  cue(0, {
    type: 'hello',
    model: 'script',
    tools: ['Read', 'Grep', 'Edit', 'Bash', 'Task', 'AskUserQuestion'],
    note: 'This session is a script: no model is called, no command runs, no file changes, and nothing is billed.',
  }),
  ...think(
    'm1',
    'Page one is missing, so the start index is probably counted from zero somewhere. I should see a test fail before I change anything.',
  ),
  ...message('m2', 'I will read the code, watch a test fail, and only then change anything.'),
  plan(STEPS, 0),
  ...read('t1', PAGINATE_PATH, PAGINATE),
  plan(STEPS, 1),
  ...bash('t2', 'node --test test/paginate.test.ts', 3000, 1, TESTS_FAIL),
  cue(300, { type: 'spent', usage: used(4210, 0, 164) }),
  ...think(
    'm3',
    'The comment says that pages count from 1, but the slice starts at page * size: one page too far.',
  ),
  ...message(
    'm4',
    'Found it. Pages count from 1, but the slice starts at `page * size`, which is one page too far. The fix is one line.',
  ),
  plan(STEPS, 2),
  ...edit('t3', PAGINATE_PATH, 'page * size', '(page - 1) * size'),
  cue(400, {
    type: 'ask',
    id: 'edit',
    call: 't3',
    title: `Edit ${PAGINATE_PATH}`,
    allow: 'fixed',
    deny: 'refused',
  }),
]

const TASK = 'Check the callers of paginate'
const TASK_PROMPT = 'Find every caller of paginate and say whether it counts pages from 0 or from 1.'
const FINDING = 'search.ts counts pages from 1. feed.ts counts from 0: it only worked because of the bug.'

/** The work of the sub-agent. */
const search: Scene = [
  ...run(
    {
      id: 't6',
      name: 'Grep',
      kind: 'search',
      title: 'paginate(',
      input: { pattern: 'paginate(' },
      agent: 'a1',
    },
    1300,
    {
      status: 'success',
      output: CALLERS,
    },
  ),
  ...message('m6', 'Two callers. search.ts counts from 1, so I look at the other one.', 'a1'),
  ...read('t7', FEED_PATH, FEED, 'a1'),
  cue(600, { type: 'spent', usage: used(1890, 0, 96), agent: 'a1' }),
]

const delegated: Scene = [
  cue(800, {
    type: 'call',
    id: 't5',
    name: 'Task',
    kind: 'task',
    title: TASK,
    input: { description: TASK, prompt: TASK_PROMPT },
  }),
  cue(0, { type: 'spawn', id: 'a1', call: 't5', label: TASK, prompt: TASK_PROMPT }),
  ...search,
  cue(0, { type: 'return', id: 'a1', summary: FINDING, ms: playTime(search) }),
  cue(0, { type: 'result', id: 't5', status: 'success', output: FINDING, ms: playTime(search) }),
]

const fixed: Scene = [
  cue(500, {
    type: 'result',
    id: 't3',
    status: 'success',
    output: `Replaced 1 line in ${PAGINATE_PATH}.`,
    change: {
      path: PAGINATE_PATH,
      change: 'modified',
      diff: PAGINATE_DIFF,
      before: PAGINATE,
      after: PAGINATE_FIXED,
    },
  }),
  ...bash('t4', 'node --test test/paginate.test.ts', 2600, 0, TESTS_PASS),
  cue(300, { type: 'spent', usage: used(610, 4210, 131) }),
  ...message(
    'm5',
    'Green. Somebody may have relied on the old behaviour, so a sub-agent looks at the callers.',
  ),
  plan(STEPS, 3),
  ...delegated,
  cue(700, {
    type: 'question',
    id: 'caller',
    header: 'feed.ts',
    text: `${FEED_PATH} counts pages from 0 and only worked because of the bug. What should I do about it?`,
    answers: [
      { label: 'Fix it too', description: 'pass page + 1 there, its links stay the same', scene: 'caller' },
      { label: 'Only report it', description: 'leave the file alone', scene: 'reported' },
    ],
    otherwise: 'reported',
  }),
]

const caller: Scene = [
  ...message('m7', 'Then its first page has to come along.'),
  ...edit('t8', FEED_PATH, 'page, 20', 'page + 1, 20'),
  cue(400, {
    type: 'ask',
    id: 'edit-caller',
    call: 't8',
    title: `Edit ${FEED_PATH}`,
    allow: 'callerFixed',
    deny: 'callerRefused',
  }),
]

const callerFixed: Scene = [
  cue(500, {
    type: 'result',
    id: 't8',
    status: 'success',
    output: `Replaced 1 line in ${FEED_PATH}.`,
    change: { path: FEED_PATH, change: 'modified', diff: FEED_DIFF, before: FEED, after: FEED_FIXED },
  }),
  ...bash('t9', 'node --test', 3400, 0, ALL_TESTS_PASS),
  plan(STEPS, STEPS.length),
  ...conclude(
    'm8',
    'Done, the first page is back.\n\n- `src/paginate.ts` starts at `(page - 1) * size`.\n- `src/routes/feed.ts` passes `page + 1`, so its links stay the same.\n\nAll 14 tests pass.',
    used(1240, 4820, 208),
  ),
]

const callerRefused: Scene = [
  cue(300, { type: 'result', id: 't8', status: 'denied' }),
  plan(STEPS, STEPS.length),
  ...conclude(
    'm8',
    'All right, `src/routes/feed.ts` stays as it is.\n\nMind that its first page is empty now: it asks for page 0, and pages count from 1. `page + 1` in line 6 repairs it.',
    used(980, 4820, 142),
  ),
]

const reported: Scene = [
  plan(STEPS, STEPS.length),
  ...conclude(
    'm8',
    'Done, the first page is back: `src/paginate.ts` starts at `(page - 1) * size`, and its tests pass.\n\nStill open: `src/routes/feed.ts` line 6 asks for page 0 and gets an empty page now. `page + 1` repairs it.',
    used(880, 4820, 156),
  ),
]

const refused: Scene = [
  cue(300, { type: 'result', id: 't3', status: 'denied' }),
  ...message('m5', 'Sorry, I should have asked you first how you want it done. I leave the file alone.'),
  cue(500, {
    type: 'question',
    id: 'instead',
    header: 'Instead',
    text: 'How shall I go on?',
    answers: [
      { label: 'Show me the patch', description: 'you apply it yourself', scene: 'patch' },
      { label: 'Stop here', description: 'the cause is known, that is enough', scene: 'stopped' },
    ],
    otherwise: 'stopped',
  }),
]

const patch: Scene = conclude(
  'm6',
  `Save this as \`first-page.patch\` and run \`git apply first-page.patch\`:\n\n${PAGINATE_DIFF}\nNothing was changed. After the patch, all three tests of \`paginate\` should pass.`,
  used(640, 4210, 188),
)

const stopped: Scene = conclude(
  'm6',
  'Nothing was changed. The cause is in `src/paginate.ts`, line 3: it starts at `page * size`, and should start at `(page - 1) * size`.',
  used(420, 4210, 84),
)

const again: Scene = conclude(
  'm1',
  'I am a script and know only one story, which I have told. Start a new session to hear it again, or ask a real agent.',
  used(310, 0, 32),
)

/** All scenes by name; `opening` answers the first prompt and `again` all later ones. */
export const SCENES: ReadonlyMap<string, Scene> = new Map(
  Object.entries({
    opening,
    fixed,
    caller,
    callerFixed,
    callerRefused,
    reported,
    refused,
    patch,
    stopped,
    again,
  }),
)
