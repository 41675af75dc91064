import picocolors from 'picocolors'
import { describe, expect, test } from 'vitest'
import { render } from '../../../src/cli/render/render.ts'
import { newView } from '../../../src/cli/render/view.ts'
import type { Event } from '../../../src/model/index.ts'
import { entriesOf } from '../../dialects/entries.ts'
import { SAMPLES } from '../../model/samples.ts'
import { demoEvents } from './demo-events.ts'

interface RichOptions {
  columns?: number
  isFull?: boolean
}

test('the demo reads like this on a terminal', async () => {
  const view = newView({ colors: picocolors.createColors(true), rich: true, columns: () => 92 })
  const text = entriesOf(...(await demoEvents())).map((entry) => render(view, entry))
  const words = text.join('').replaceAll(/\x1b\[\d+m/g, '')
  await expect(words).toMatchFileSnapshot('goldens/demo-terminal.txt')
})

/** As on a terminal, without colours. */
function shown(events: readonly Event[], { columns = 60, isFull = false }: RichOptions = {}): string {
  const colors = picocolors.createColors(false)
  const view = newView({ colors, rich: true, columns: () => columns, rows: () => 40, isFull })
  return entriesOf(...events)
    .map((entry) => render(view, entry))
    .join('')
}

type Kind = Extract<Event, { type: 'tool.started' }>['kind']

const started = (toolId: string, name: string, kind: Kind, title?: string, parent?: string): Event => ({
  type: 'tool.started',
  toolId,
  name,
  kind,
  ...(title !== undefined && { title }),
  ...(parent !== undefined && { parent }),
})

type Ended = Partial<Extract<Event, { type: 'tool.completed' }>>

const ended = (toolId: string, name: string, kind: Kind, more: Ended = {}): Event => ({
  type: 'tool.completed',
  toolId,
  name,
  kind,
  status: 'success',
  ...more,
})

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}`).join('\n')

describe('a call is one line, printed when it has ended', () => {
  test('with its result and its time; calls in a row have no gap between them', () => {
    expect(
      shown([
        started('1', 'Read', 'read', 'src/a.ts'),
        started('2', 'Bash', 'execute', 'npm test'),
        ended('1', 'Read', 'read', { output: numbered(60) }),
        ended('2', 'Bash', 'execute', { exitCode: 0, durationMs: 1_234 }),
      ]),
    ).toBe('● Read  src/a.ts  60 lines\n● Bash  npm test  exit 0 · 1.2 s\n')
  })

  test('a command shows the end of its output, a failed one more of it', () => {
    const events = (more: Ended) => [
      started('1', 'Bash', 'execute', 'make'),
      ended('1', 'Bash', 'execute', { output: numbered(20), ...more }),
    ]
    expect(shown(events({ exitCode: 0 }))).toBe(
      '● Bash  make  exit 0\n  │ … 16 more lines\n  │ line 17\n  │ line 18\n  │ line 19\n  │ line 20\n',
    )
    const failed = shown(events({ status: 'error', exitCode: 2 }))
    expect(failed).toContain('✖ Bash  make  exit 2\n  │ line 1\n  │ line 2\n  │ line 3\n  │ … 8 more lines\n')
    expect(failed).toContain('  │ line 20\n')
  })

  test('a long title gives way to the result, in a narrow terminal too', () => {
    const events = [
      started('1', 'Bash', 'execute', 'npm run a-very-long-command -- --with --many --options'),
      ended('1', 'Bash', 'execute', { exitCode: 0, durationMs: 2_000 }),
    ]
    expect(shown(events, { columns: 40 })).toBe('● Bash  npm run a-very-…  exit 0 · 2.0 s\n')
  })

  test('a change shows its diff once', () => {
    const diff = '@@ -1,2 +1,2 @@\n-old\n+new\n same\n'
    expect(
      shown([
        started('1', 'Edit', 'edit', 'src/a.ts'),
        { type: 'file.changed', path: 'src/a.ts', change: 'modified', diff, toolId: '1' },
        ended('1', 'Edit', 'edit', { output: 'The file was updated.' }),
      ]),
    ).toBe('● Edit  src/a.ts  +1 −1\n  │ @@ -1,2 +1,2 @@\n  │ -old\n  │ +new\n  │  same\n')
  })

  test('shown in full, no line of an output is left out', () => {
    const events = [
      started('1', 'Read', 'read', 'src/a.ts'),
      ended('1', 'Read', 'read', { output: numbered(60) }),
    ]
    expect(shown(events, { isFull: true }).split('\n')).toHaveLength(62)
  })
})

test('a plan is a checklist, and the call that writes it is not shown', () => {
  const items = [
    { text: 'read', status: 'completed' as const },
    { text: 'fix', status: 'in_progress' as const },
    { text: 'test', status: 'pending' as const },
  ]
  expect(
    shown([
      started('1', 'TodoWrite', 'think', '{"todos":[]}'),
      { type: 'plan.updated', items },
      ended('1', 'TodoWrite', 'think', { output: 'Todos have been modified.' }),
    ]),
  ).toBe('◆ Plan  1 of 3\n  ✔ read\n  ▸ fix\n  ○ test\n')
})

describe('a later plan shows what changed', () => {
  type Status = 'pending' | 'in_progress' | 'completed'
  const plan = (statuses: readonly Status[], parent?: string): Event => ({
    type: 'plan.updated',
    items: statuses.map((status) => ({ text: 'run the tests', status })),
    ...(parent !== undefined && { parent }),
  })

  test('of each item, also if two have the same text', () => {
    expect(
      shown([
        plan(['in_progress', 'pending']),
        plan(['completed', 'in_progress']),
        plan(['completed', 'completed']),
        plan(['completed', 'completed']),
      ]),
    ).toBe(
      [
        '◆ Plan  0 of 2\n  ▸ run the tests\n  ○ run the tests\n',
        '◆ Plan  1 of 2\n  ✔ run the tests\n  ▸ run the tests\n',
        '◆ Plan  2 of 2\n  ✔ run the tests\n',
      ].join('\n'),
    )
  })

  test('of the main thread and of each sub-agent alone, and hides the call of the sub-agent that writes it', () => {
    const sub: Event[] = [
      started('call-s1', 'Task', 'task', 'Review'),
      { type: 'subagent.started', id: 's1', toolId: 'call-s1', label: 'Review' },
    ]
    const text = shown([
      plan(['in_progress', 'pending']),
      ...sub,
      started('w', 'TodoWrite', 'think', '{"todos":[]}', 's1'),
      plan(['pending'], 's1'),
      ended('w', 'TodoWrite', 'think', { parent: 's1' }),
      plan(['completed', 'pending']),
    ])
    expect(text).not.toContain('TodoWrite')
    expect(text).toMatch(/◆ Plan {2}1 of 2\n {2}✔ run the tests\n$/)
  })
})

test('calls of sub-agents that work at the same time are below the name of their sub-agent', () => {
  const sub = (id: string, label: string): Event[] => [
    started(`call-${id}`, 'Task', 'task', label),
    { type: 'subagent.started', id, toolId: `call-${id}`, label, agentType: 'reviewer' },
  ]
  const read = (id: string, file: string): Event[] => [
    started(file, 'Read', 'read', file, id),
    ended(file, 'Read', 'read', { parent: id }),
  ]
  expect(
    shown([
      ...sub('s1', 'Review'),
      ...sub('s2', 'Write tests'),
      ...read('s2', 'b.ts'),
      ...read('s1', 'a.ts'),
      ended('call-s1', 'Task', 'task', { output: 'It is **fine**.' }),
      { type: 'subagent.completed', id: 's1', status: 'success', durationMs: 3_000 },
    ]),
  ).toBe(
    [
      '◇ Review  reviewer\n',
      '◇ Write tests  reviewer\n',
      '  ┆ ● Read  b.ts  done\n',
      '◇ Review',
      '  ┆ ● Read  a.ts  done\n',
      '◇ Review  done · 3.0 s',
      '  ┆ It is fine.\n',
    ].join('\n'),
  )
})

describe('paths below the directory of the session are relative to it', () => {
  const input = { file_path: '/project/src/a.ts', content: 'a' }
  const session: Event = {
    type: 'session.started',
    agent: 'claude',
    launch: 'live',
    cwd: '/project',
    policy: SAMPLES['session.started'].policy,
    capabilities: SAMPLES['session.started'].capabilities,
  }

  test('in the line of a call, with or without a title', () => {
    const text = shown(
      [
        session,
        started('1', 'Read', 'read', '/project/src/a.ts'),
        ended('1', 'Read', 'read'),
        { type: 'tool.started', toolId: '2', name: 'Write', kind: 'edit', input },
        ended('2', 'Write', 'edit'),
        started('3', 'Read', 'read', '/project/../etc/passwd'),
        ended('3', 'Read', 'read'),
      ],
      { columns: 120 },
    )
    expect(text).toContain(
      '● Read  src/a.ts  done\n● Write  src/a.ts  done\n● Read  /project/../etc/passwd  done\n',
    )
  })

  test('but a command is shown as it runs, without the JSON around it', () => {
    const command = 'cat /project/src/a.ts'
    const text = shown(
      [
        session,
        {
          type: 'tool.started',
          toolId: '1',
          name: 'Bash',
          kind: 'execute',
          input: { command },
          title: command,
        },
        ended('1', 'Bash', 'execute'),
        { type: 'tool.started', toolId: '2', name: 'Bash', kind: 'execute', input: { command } },
        ended('2', 'Bash', 'execute'),
      ],
      { columns: 120 },
    )
    expect(text).toContain(`● Bash  ${command}  done\n● Bash  ${command}  done\n`)
  })

  test('in the name of a changed file, and its earlier one', () => {
    const renamed = { path: '/project/b.ts', from: '/project/a.ts', change: 'renamed' } as const
    expect(shown([session, { type: 'file.changed', ...renamed }])).toContain('│ renamed a.ts → b.ts\n')
  })

  test('in the heading of a request; the details have what the agent sends', () => {
    const opened = { ...SAMPLES['request.opened'], toolId: 'none', title: 'Move /project/a.ts', tool: 'Move' }
    const moved = shown([session, { ...opened, input: { from: '/project/a.ts' } }])
    expect(moved).toContain('? Permission  Move a.ts\n    from: /project/a.ts\n')
    const run = { ...opened, title: 'cat /project/a.ts', input: { command: 'cat /project/a.ts' } }
    expect(shown([session, run])).toContain('? Permission  cat /project/a.ts\n')
    const call: Event = { ...SAMPLES['tool.started'], toolId: 'c', input: run.input }
    expect(shown([session, call, { ...run, toolId: 'c', input: {} }])).toContain(
      '? Permission  cat /project/',
    )
  })
})

describe('requests', () => {
  const request = { requestId: 'r', blocking: true, toolId: '1', inputDigest: 'd', options: [] }

  test('a plan to approve is laid out, and its call has no line of its own', () => {
    const text = shown([
      started('1', 'ExitPlanMode', 'other', '{"plan":"…"}'),
      {
        type: 'request.opened',
        ...request,
        kind: 'plan',
        tool: 'ExitPlanMode',
        input: { plan: '# Plan\n\n1. Read `a.ts`\n2. **Fix** it' },
      },
      { type: 'request.resolved', requestId: 'r', decision: 'allow', by: 'person' },
      ended('1', 'ExitPlanMode', 'other', { output: 'approved' }),
    ])
    expect(text).toBe(
      '? Plan to approve\n    # Plan\n\n    1. Read `a.ts`\n    2. Fix it\n  → allowed once\n',
    )
  })

  test('an edit is its diff, with every line of both texts, and is not repeated when it is done', () => {
    const input = {
      file_path: '/project/a.ts',
      old_string: 'one\n\ttwo\n',
      new_string: 'one\n\tzwei\n',
      replace_all: false,
    }
    const text = shown([
      {
        type: 'session.started',
        agent: 'claude',
        launch: 'live',
        cwd: '/project',
        policy: SAMPLES['session.started'].policy,
        capabilities: SAMPLES['session.started'].capabilities,
      },
      started('1', 'Edit', 'edit', 'a.ts'),
      { type: 'request.opened', ...request, kind: 'permission', tool: 'Edit', input },
      { type: 'request.resolved', requestId: 'r', decision: 'allow', by: 'person' },
      {
        type: 'file.changed',
        path: 'a.ts',
        change: 'modified',
        diff: '@@ -1 +1 @@\n-two\n+zwei\n',
        toolId: '1',
      },
      ended('1', 'Edit', 'edit'),
    ])
    expect(text).toContain(
      '? Permission  Edit\n    a.ts  +1 −1\n      one\n    -   two\n    +   zwei\n     \n    replace_all: false\n',
    )
    expect(text).toMatch(/● Edit {2}a\.ts {2}\+1 −1\n$/)
  })

  test('invisible characters of a proposed change are escaped, and a new file is all added', () => {
    const input = { file_path: 'a.ts', content: 'a\u202eb\n' }
    expect(
      shown([{ type: 'request.opened', ...request, kind: 'permission', tool: 'Write', input }]),
    ).toContain('    a.ts  +2 −0\n    + a\\u202eb\n    +\n')
  })
})
