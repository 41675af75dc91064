import fc from 'fast-check'
import picocolors from 'picocolors'
import { describe, expect, test } from 'vitest'
import { render } from '../../../src/cli/render/render.ts'
import { newView } from '../../../src/cli/render/view.ts'
import { widthOf } from '../../../src/cli/render/wrap.ts'
import { Event } from '../../../src/model/index.ts'
import { entriesOf } from '../../dialects/entries.ts'
import { SAMPLES } from '../../model/samples.ts'
import { demoEvents } from './demo-events.ts'

function rendered(events: readonly Event[], options: { columns?: number; colors?: boolean } = {}): string {
  const { columns } = options
  const view = newView({
    colors: picocolors.createColors(options.colors ?? false),
    ...(columns !== undefined && { columns: () => columns }),
  })
  return entriesOf(...events)
    .map((entry) => render(view, entry))
    .join('')
}

test('an error notice and the failure of its turn show the same words once, with the advice of this error', () => {
  const [message, advice] = ['the model is gone', 'Name another model.']
  const text = rendered([
    SAMPLES['turn.started'],
    { type: 'notice.raised', level: 'error', code: 'agent_warning', message },
    { ...SAMPLES['turn.completed'], outcome: 'failed', error: { code: 'unknown', message, advice } },
  ])
  expect(text.split(message)).toHaveLength(2)
  expect(text).toContain('(unknown)')
  expect(text).toContain(advice)
})

test('the demo reads like this', async () => {
  await expect(rendered(await demoEvents())).toMatchFileSnapshot('goldens/demo.txt')
})

test('colours change nothing but the colours', async () => {
  const events = await demoEvents()
  const coloured = rendered(events, { colors: true })
  expect(coloured).toContain('\x1b[')
  expect(coloured.replace(/\x1b\[\d+m/g, '')).toBe(rendered(events))
})

test('no line is wider than the terminal', async () => {
  const lines = rendered(await demoEvents(), { columns: 40 }).split('\n')
  expect(lines.length).toBeGreaterThan(100)
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(40)
})

describe('messages', () => {
  const delta = (messageId: string, text: string): Event => ({ type: 'text.delta', messageId, text })
  const completed = (messageId: string, text: string): Event => ({ type: 'text.completed', messageId, text })

  test('in pieces or whole, a message reads the same', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1 }), (pieces) => {
        const whole = completed('m1', pieces.join(''))
        const streamed = [...pieces.map((piece) => delta('m1', piece)), whole]
        expect(rendered(streamed, { columns: 30 }).trim()).toBe(rendered([whole], { columns: 30 }).trim())
      }),
    )
  })

  test('words are shown as they come', () => {
    expect(rendered([delta('m1', 'one two th'), delta('m1', 'ree four ')])).toBe('  one two three four')
  })

  test('another message breaks the line, and the first one continues below', () => {
    const events = [
      delta('m1', 'one '),
      delta('m2', 'uno '),
      delta('m1', 'two '),
      completed('m1', 'one two '),
    ]
    expect(rendered(events)).toBe('  one\n\n  uno\n\n  two\n')
  })

  test('a notice in the middle of a line leaves no space before the word after it', () => {
    const notice: Event = { type: 'notice.raised', level: 'info', code: 'agent_warning', message: 'slow' }
    expect(rendered([delta('m1', 'one two'), notice, delta('m1', ' '), delta('m1', ' three ')])).toBe(
      '  one two\n  slow\n\n  three',
    )
    const code = rendered([
      delta('m1', 'one\n'),
      notice,
      delta('m1', '  indented '),
      completed('m1', 'one\n  indented '),
    ])
    expect(code).toBe('  one\n  slow\n\n    indented\n')
  })

  test('a complete text that differs from its deltas is shown in full', () => {
    expect(rendered([delta('m1', 'one '), completed('m1', 'two')])).toBe('  one\n\n  two\n')
  })

  test('a message that is dropped says so, and its repetition stands alone', () => {
    const dropped: Event = { type: 'message.discarded', messageId: 'm1', reason: 'stream_broken' }
    const text = rendered([delta('m1', 'one '), dropped, completed('m2', 'one two')])
    expect(text).toBe('  one\n  (incomplete, will be repeated)\n\n  one two\n')
  })

  test('a sub-agent speaks in whole messages, below its own line', () => {
    const text = rendered([
      { type: 'subagent.started', id: 's1', label: 'look' },
      { type: 'subagent.started', id: 's2', label: 'look closer', parent: 's1' },
      { type: 'text.delta', messageId: 'm1', text: 'half', parent: 's2' },
      { type: 'text.completed', messageId: 'm1', text: 'half and half', parent: 's2' },
    ])
    expect(text).toBe('  ┆ ◇ look\n\n  ┆ ┆ ◇ look closer\n\n  ┆ ┆ half and half\n')
  })

  test('a result without a message is shown at the end', () => {
    const end = { ...SAMPLES['turn.completed'], result: 'the answer' }
    expect(rendered([SAMPLES['turn.started'], end])).toContain('  the answer\n')
    expect(
      rendered([SAMPLES['turn.started'], completed('m1', 'the answer'), end]).match(/the answer/g),
    ).toHaveLength(1)
  })
})

describe('tools', () => {
  const started = (toolId: string, title: string): Event => ({ ...SAMPLES['tool.started'], toolId, title })
  const done = (toolId: string, more: Partial<(typeof SAMPLES)['tool.completed']> = {}): Event => ({
    ...SAMPLES['tool.completed'],
    toolId,
    ...more,
  })
  const numbered = (count: number) =>
    Array.from({ length: count }, (_, index) => `line ${index + 1}`).join('\n')

  test('a card has its title, the first lines of the output and how it went', () => {
    const text = rendered([
      started('t1', 'npm test'),
      done('t1', { output: numbered(30), exitCode: 0, durationMs: 61_000 }),
    ])
    expect(text.split('\n').slice(0, 3)).toEqual(['● Bash  npm test', '  │ line 1', '  │ line 2'])
    expect(text).toContain('  │ line 12\n  │ … 18 more lines\n  ╰ exit 0 · 1 m 01 s\n')
  })

  test('results that come in another order repeat the title of their call', () => {
    const text = rendered([started('t1', 'first'), started('t2', 'second'), done('t1'), done('t2')])
    expect(text).toBe(
      '● Bash  first\n\n● Bash  second\n\n● Bash  first\n  ╰ done\n\n● Bash  second\n  ╰ done\n',
    )
  })

  test.each([
    [{ status: 'error', exitCode: 2 }, 'exit 2'],
    [{ status: 'error', error: 'no such file' }, 'failed · no such file'],
    [{ status: 'denied', deniedBy: 'policy' }, 'denied by the policy'],
    [{ status: 'cancelled' }, 'cancelled'],
    [{ status: 'unknown' }, 'no result'],
  ] as const)('%o ends in "%s"', (result, words) => {
    expect(rendered([started('t1', 'x'), done('t1', result)])).toContain(`  ╰ ${words}\n`)
  })

  test('output before the end is shown if the result does not repeat it', () => {
    const progress = (output: string): Event => ({ type: 'tool.progressed', toolId: 't1', output })
    const text = rendered([started('t1', 'x'), progress('one\n'), progress('two\n'), done('t1')])
    expect(text).toContain('  │ one\n  │ two\n')
  })

  test('a change is shown as its diff instead of the output', () => {
    const diff = '--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-old\n+new\n'
    const text = rendered([
      started('t1', 'a.ts'),
      { ...SAMPLES['file.changed'], toolId: 't1', diff },
      done('t1', { output: 'updated' }),
    ])
    expect(text).toBe(
      '● Bash  a.ts\n  │ modified a.ts  +1 −1\n  │ @@ -1 +1 @@\n  │ -old\n  │ +new\n  ╰ done\n',
    )
  })
})

test('a plan is shown whole once, then what has changed in it', () => {
  const plan = (...statuses: ('pending' | 'in_progress' | 'completed')[]): Event => ({
    type: 'plan.updated',
    items: statuses.map((status, index) => ({ text: `step ${index + 1}`, status })),
  })
  const text = rendered([
    plan('in_progress', 'pending'),
    plan('completed', 'pending'),
    plan('completed', 'pending'),
  ])
  expect(text).toBe('◆ Plan  0 of 2\n  ▸ step 1\n  ○ step 2\n\n◆ Plan  1 of 2\n  ✔ step 1\n')
})

describe('requests', () => {
  test('a request is shown in full', () => {
    const command = `${'echo safe && '.repeat(50)}rm -rf /`
    const opened: Event = { ...SAMPLES['request.opened'], tool: 'Bash', input: { command } }
    const text = rendered([opened], { columns: 60 })
    expect(text.replace(/\s+/g, ' ')).toContain(command)
  })

  test('fields that the request omits are taken from its call', () => {
    const call: Event = { ...SAMPLES['tool.started'], toolId: 't1', input: { plan: 'first this\nthen that' } }
    const opened: Event = { ...SAMPLES['request.opened'], kind: 'plan', toolId: 't1', input: {} }
    expect(rendered([call, opened])).toContain('    plan: first this\n    then that\n')
  })

  test('a question is shown once, with what can be answered', () => {
    const questions = [
      { id: 'q', header: 'Colour', text: 'Which?', options: [{ label: 'red', description: 'warm' }] },
    ]
    const opened: Event = { ...SAMPLES['request.opened'], kind: 'question', input: { questions }, questions }
    expect(rendered([opened])).toMatch(/ {2}Which\?\n {2}· red {2}warm\n$/)
    expect(rendered([opened]).match(/Which/g)).toHaveLength(1)
  })

  test.each([
    [{ decision: 'allow', scope: 'session', by: 'person' }, 'allowed for this session'],
    [{ decision: 'allow', by: 'policy' }, 'allowed once, by the policy'],
    [{ decision: 'allow', by: 'person', principal: 'ci' }, 'allowed once, by ci'],
    [{ decision: 'deny', by: 'person', principal: 'local', client: 'page' }, 'denied, by local (page)'],
    [{ decision: 'deny', by: 'hook' }, 'denied, by a hook'],
    [{ decision: 'deny', by: 'person', message: 'not here' }, 'denied: not here'],
    [{ decision: 'answered', answers: { a: ['red', 'blue'] }, by: 'person' }, 'red, blue'],
  ] as const)('%o reads "%s"', (resolution, words) => {
    const { answers, ...rest } = { answers: undefined, ...resolution }
    const copied = answers && {
      answers: Object.fromEntries(Object.entries(answers).map(([id, given]) => [id, [...given]])),
    }
    const event = Event.parse({ ...SAMPLES['request.resolved'], ...rest, ...copied })
    expect(rendered([event])).toBe(`  → ${words}\n`)
  })
})

test('a file that is new is shown as added', () => {
  const created: Event = { ...SAMPLES['file.changed'], change: 'created', after: 'one\ntwo\n' }
  expect(rendered([created])).toBe('  │ created a.ts  +2 −0\n  │ +one\n  │ +two\n')
})

test('a line that only looks like the head of a diff is part of it', () => {
  const diff = '--- a/a.sql\n+++ b/a.sql\n@@ -1 +1 @@\n--- old comment\n+-- new comment\n'
  expect(rendered([{ ...SAMPLES['file.changed'], diff }])).toContain(
    '  │ --- old comment\n  │ +-- new comment\n',
  )
})

describe('the end', () => {
  test('shows usage, and no cost if none is known', () => {
    const end = { ...SAMPLES['turn.completed'], durationMs: 58_400 }
    const usage = { input: 1240, cacheRead: 9030, output: 310 }
    expect(rendered([{ ...end, usage }])).toBe(
      '  1,240 tokens in · 9,030 from cache · 310 out\n✔ completed in 58.4 s\n',
    )
    expect(rendered([{ ...end, usage: { ...usage, costUsd: 0.01234 } }])).toContain(' · $0.0123\n')
    expect(rendered([end])).toBe('✔ completed in 58.4 s\n')
    expect(rendered([{ ...end, usage: { ...usage, partial: true } }])).toMatch(
      /^ {2}at least 1,240 tokens in/,
    )
  })

  test('shows the error and the advice', () => {
    const error = { code: 'authentication_failed', message: 'Not logged in' } as const
    const text = rendered([{ ...SAMPLES['turn.completed'], outcome: 'failed', durationMs: 420, error }])
    expect(text).toBe(
      '✖ failed after 420 ms\n  Not logged in (authentication_failed)\n  Log in to the agent, or set its key variable.\n',
    )
  })
})

describe('any output of an agent', () => {
  const hostile = fc
    .array(
      fc.constantFrom(
        '\x1b[31m',
        '\x1b]52;c;eA==\x07',
        '\x9b2J',
        '\r',
        '\n',
        '\u202e',
        '✔ completed',
        'word ',
      ),
      {
        minLength: 1,
        maxLength: 6,
      },
    )
    .map((parts) => parts.join(''))

  /** The same event with every free text replaced, wherever it stands. */
  function speaking(value: unknown, text: string, schema: (candidate: unknown) => boolean): unknown {
    const inject = (node: unknown, put: (replaced: unknown) => unknown): unknown => {
      if (typeof node === 'string') return schema(put(text)) ? text : node
      if (Array.isArray(node)) return node.map((item, at) => inject(item, (one) => put(node.with(at, one))))
      if (typeof node !== 'object' || node === null) return node
      let copy: Record<string, unknown> = { ...node }
      for (const [key, child] of Object.entries(copy)) {
        copy = { ...copy, [key]: inject(child, (one) => put({ ...copy, [key]: one })) }
      }
      return copy
    }
    return inject(value, (replaced) => replaced)
  }

  const rich: Event[] = [
    ...Object.values(SAMPLES),
    { ...SAMPLES['tool.started'], title: 'x', input: { command: 'x' } },
    { ...SAMPLES['tool.completed'], output: 'x', status: 'error', error: 'x' },
    { ...SAMPLES['file.changed'], diff: 'x', from: 'x' },
    { ...SAMPLES['plan.updated'], items: [{ text: 'x', status: 'pending' }] },
    { ...SAMPLES['subagent.completed'], summary: 'x' },
    { ...SAMPLES['subagent.progressed'], message: 'x' },
    { ...SAMPLES['session.updated'], model: 'x', title: 'x' },
    { ...SAMPLES['request.opened'], title: 'x', tool: 'x', input: { x: 'x' } },
    {
      ...SAMPLES['turn.completed'],
      outcome: 'failed',
      result: 'x',
      error: { code: 'unknown', message: 'x' },
    },
    { ...SAMPLES['limit.reported'], message: 'x' },
  ]

  test.each(rich.map((event) => [event.type, event] as const))('%s steers no terminal', (_, event) => {
    fc.assert(
      fc.property(hostile, (text) => {
        const said = Event.parse(speaking(event, text, (candidate) => Event.safeParse(candidate).success))
        const shown = rendered([said], { columns: 60 })
        expect(shown).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202e]/)
        const coloured = rendered([said], { columns: 60, colors: true })
        expect(coloured.replace(/\x1b\[\d+m/g, '')).toBe(shown)
      }),
      { numRuns: 30 },
    )
  })

  test('no text of an agent stands in the first column, where our own marks are', () => {
    const forged = 'fine\n✔ completed in 1 ms\n❯ rm -rf /'
    const shown = rendered([
      { type: 'text.completed', messageId: 'm1', text: forged },
      { type: 'thinking.completed', messageId: 'm2', text: forged },
      { ...SAMPLES['tool.started'], title: forged },
      { ...SAMPLES['tool.completed'], output: forged },
      { type: 'output.written', stream: 'stderr', line: forged },
    ])
    expect(shown.split('\n').filter((line) => line !== '' && !line.startsWith(' '))).toEqual([
      '✻ fine',
      '● Bash  fine ✔ completed in 1 ms ❯ rm -rf /',
    ])
  })
})
