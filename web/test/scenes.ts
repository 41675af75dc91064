/** Scripted sessions with everything that a page has to show, for the gallery and the tests of what is read. */
import { type Cue, script, success, text } from '../../test/gateway/puppet.ts'
import { ask } from './approval-requests.ts'

const ANSWER = `## What went wrong

The list asks for page **1**, and \`paginate\` multiplies it by the size, so the *first* page is skipped:

\`\`\`ts
/** One page of a list. Pages count from 1. */
export function paginate<T>(items: readonly T[], page: number, size: number): T[] {
  const start = page * size // should be (page - 1) * size
  return items.slice(start, start + size)
}
\`\`\`

1. Count from **1** in \`src/paginate.ts\`, because its comment and both of its tests say so, and because the search route already passes a number that starts at one.
2. Pass \`page + 1\` in \`src/routes/feed.ts\`
   - the query counts from 0
   - the link to the next page stays the same

- [x] tests pass
- [ ] documentation

| Route | Counts from | Passed before | Passed after |
|:------|:-----------:|--------------:|--------------|
| \`/feed\` | 0 | page | page + 1 |
| \`/search\` | 1 | page | page |
| \`/a-route-with-a-long-name-that-does-not-fit\` | 1 | configuration.defaults.page | configuration.defaults.page |

> The old behaviour was documented nowhere.

See <https://example.com/pages> or run:

\`\`\`sh
npm test -- --grep "page 1" && git diff --stat
\`\`\`

\`\`\`json
{ "page": 1, "size": 20, "sort": ["name", "-date"], "strict": true }
\`\`\`
`

const DIFF = `--- a/src/paginate.ts
+++ b/src/paginate.ts
@@ -1,5 +1,5 @@
 /** One page of a list. Pages count from 1. */
 export function paginate<T>(items: readonly T[], page: number, size: number): T[] {
-  const start = page * size
+  const start = (page - 1) * size
   return items.slice(start, start + size)
 }
`

/** A long test run, whose end has the result. */
export const LOG = Array.from({ length: 900 }, (_, line) =>
  line % 97 === 96
    ? `\u001b[31m✖ test ${line} failed: expected ${line} to be ${line + 1}\u001b[0m`
    : `\u001b[32m✔\u001b[0m test ${line} of the product list (${line % 7}.2ms)`,
).join('\n')

const titled = (title: string): Cue => ({
  say: { type: 'session.updated', title, model: 'large-model-4', agentVersion: '4.2.0' },
})

interface Call {
  name: string
  kind: 'execute' | 'read' | 'edit' | 'search' | 'mcp' | 'other'
  title?: string
  input: unknown
}

const started = (toolId: string, call: Call): Cue => ({ say: { type: 'tool.started', toolId, ...call } })

/** A call with its result. */
function call(
  toolId: string,
  started_: Call,
  result: { output?: string; error?: string; exitCode?: number },
): Cue[] {
  const { name, kind } = started_
  const status = result.error === undefined && (result.exitCode ?? 0) === 0 ? 'success' : 'error'
  return [
    started(toolId, started_),
    { say: { type: 'tool.completed', toolId, name, kind, status, durationMs: 1_840, ...result } },
  ]
}

const changed = (
  toolId: string,
  path: string,
  change: 'created' | 'modified' | 'deleted',
  diff: string,
): Cue => ({
  say: { type: 'file.changed', toolId, path, change, diff },
})

/** A turn with reading, commands that pass and fail, edits and a formatted answer. `home` is its directory. */
export const workday = (home: string): string =>
  script(
    titled('The product list skips its first page'),
    {
      say: {
        type: 'thinking.completed',
        messageId: 'think',
        text: 'The list skips its first page, so I look at how pages are counted.',
      },
    },
    text('intro', 'I look at the code first.'),
    ...call(
      'read',
      {
        name: 'Read',
        kind: 'read',
        title: `Read ${home}/src/paginate.ts`,
        input: { file_path: `${home}/src/paginate.ts` },
      },
      { output: '1\t/** One page of a list. */' },
    ),
    ...call(
      'grep',
      {
        name: 'Grep',
        kind: 'search',
        title: 'paginate(',
        input: { pattern: 'paginate\\(', path: `${home}/src` },
      },
      { output: `${home}/src/routes/feed.ts:6: return paginate(posts, page, 20)` },
    ),
    ...call(
      'fail',
      { name: 'Bash', kind: 'execute', title: 'npm test', input: { command: 'npm test' } },
      {
        output:
          '✖ page 1 is the start of the list (1.2ms)\n  + actual - expected\n  + [ "c", "d" ]\n  - [ "a", "b" ]\ntests 3, pass 1, fail 2',
        exitCode: 1,
      },
    ),
    {
      say: {
        type: 'plan.updated',
        items: [
          { text: 'Read the code', status: 'completed' },
          { text: 'Fix the count', status: 'in_progress' },
          { text: 'Run all tests', status: 'pending' },
        ],
      },
    },
    started('edit', {
      name: 'Edit',
      kind: 'edit',
      title: `Edit ${home}/src/paginate.ts`,
      input: {
        file_path: `${home}/src/paginate.ts`,
        old_string: 'const start = page * size',
        new_string: 'const start = (page - 1) * size',
      },
    }),
    { say: { type: 'tool.completed', toolId: 'edit', name: 'Edit', kind: 'edit', status: 'success' } },
    changed('edit', `${home}/src/paginate.ts`, 'modified', DIFF),
    started('write', {
      name: 'Write',
      kind: 'edit',
      title: `Write ${home}/src/a-folder-with-a-name/and-another-one/first-page.test.ts`,
      input: {},
    }),
    { say: { type: 'tool.completed', toolId: 'write', name: 'Write', kind: 'edit', status: 'success' } },
    changed(
      'write',
      `${home}/src/a-folder-with-a-name/and-another-one/first-page.test.ts`,
      'created',
      "@@ -0,0 +1,3 @@\n+import { test } from 'node:test'\n+\n+test('page 1 is the start', () => {})\n",
    ),
    ...call(
      'big',
      { name: 'Bash', kind: 'execute', title: 'npm test -- --all', input: { command: 'npm test -- --all' } },
      { output: LOG },
    ),
    text('bidi', 'The file is called `invoice\u202efdp.exe` and hides\u200b a character.'),
    text('answer', ANSWER),
    success,
  )

const LONG_EDIT = Array.from({ length: 60 }, (_, line) => `  line ${line} of the file`).join('\n')

/** One request of each kind that people decide about, each in a session of its own. */
export const requests = (home: string): Record<string, string> => ({
  command: script(
    titled('Run the tests of the list'),
    text('a', 'The tests show what fails.'),
    started('c', { name: 'Bash', kind: 'execute', title: 'npm test', input: { command: 'npm test' } }),
    ask(
      'c',
      {
        command: "cd packages/list && npm test -- --grep 'page 1' | tee /tmp/out.log && rm -rf ./dist",
        description: 'Run the tests',
      },
      { toolId: 'c', toolKind: 'execute', title: 'Run the tests of the list' },
    ),
  ),
  edit: script(
    titled('Count pages from 1'),
    text('a', 'I fix the count.'),
    ask(
      'e',
      {
        file_path: `${home}/src/paginate.ts`,
        old_string: `${LONG_EDIT}\n  const start = page * size\n`,
        new_string: `${LONG_EDIT}\n  const start = (page - 1) * size\n  const end = start + size\n`,
      },
      {
        tool: 'Edit',
        toolKind: 'edit',
        title: `Edit ${home}/src/paginate.ts`,
        locations: [{ path: `${home}/src/paginate.ts`, line: 41 }],
      },
    ),
  ),
  file: script(
    titled('Add a test of the first page'),
    ask(
      'w',
      {
        file_path: `${home}/src/first-page.test.ts`,
        content: "import { test } from 'node:test'\n\ntest('page 1 is the start', () => {\n  check(1)\n})\n",
      },
      { tool: 'Write', toolKind: 'edit', title: `Write ${home}/src/first-page.test.ts` },
    ),
  ),
  plan: script(
    titled('Plan the change of the export'),
    ask('p', { plan: ANSWER }, { tool: 'ExitPlanMode', kind: 'plan', title: 'Ready to code?' }),
  ),
  mcp: script(
    titled('Count the orders of the shop'),
    ask(
      'm',
      { query: 'select count(*) from orders', database: 'shop', limits: { rows: 100 } },
      { tool: 'mcp__postgres__query', toolKind: 'mcp', title: 'query' },
    ),
  ),
  questions: script(titled('Choose the library of the export'), {
    say: {
      type: 'request.opened',
      requestId: 'q',
      kind: 'question',
      blocking: true,
      options: [],
      questions: ['library', 'format', 'scope'].map((id) => ({
        id,
        header: id,
        text: `Which ${id} should the export use, given that both are installed already?`,
        options: ['The first one', 'The second one', 'Neither of them'].map((label) => ({
          label,
          description: 'It is what most of the code does, and the tests expect it.',
        })),
        multiple: id === 'scope',
        other: true,
      })),
    },
  }),
})

/** A turn that runs a command and goes on. */
export const running = script(
  titled('Run the tests'),
  text('a', 'I run the tests.'),
  started('run', { name: 'Bash', kind: 'execute', title: 'npm test', input: { command: 'npm test' } }),
  {
    say: {
      type: 'tool.progressed',
      toolId: 'run',
      output: 'collecting tests\nrunning 14 tests\n✔ paginate\n✔ feed\n',
    },
  },
)

/** A turn whose agent exits without a result. */
export const nightly = script(titled('Nightly dependency update'), text('a', 'I update the dependencies.'))
