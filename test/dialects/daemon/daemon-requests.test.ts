import { describe, expect, test } from 'vitest'
import { StreamEvent } from '../../../src/dialects/daemon/daemon-event.ts'
import { endsExchange } from '../../../src/dialects/daemon.ts'
import type { Event } from '../../../src/model/index.ts'
import { bash, completed, request, result, say, system } from './daemon-scene.ts'

describe('a request', () => {
  const allowed = (header: string) => ({
    type: 'tool_use',
    tool: 'AskUserQuestion',
    input: [
      {
        header,
        options: [
          { label: 'Allow', description: 'Allow' },
          { label: 'Deny', description: 'Deny' },
        ],
        multiSelect: false,
      },
    ],
    request_id: 'e1.0',
  })
  const input = { command: 'rm -r build' }
  const call = { type: 'tool_use', tool: 'Bash', input }
  const started: Event = { type: 'tool.started', ...bash, input }
  const about = { tool: 'Bash', toolId: 't1', title: 'clean up', input }
  const permission = request(about)
  const question = allowed('Allow Bash: rm -r build (clean up)?')

  test('shows the label of an option once, even if its description starts with it', () => {
    const options = [
      { label: 'FastAPI', description: 'FastAPI (async, modern)' },
      { label: 'Flask', description: 'small' },
    ]
    const questions = [{ id: 'q', text: 'Which?', options }]
    const [asked] = say(request({ kind: 'question', tool: 'AskUserQuestion', questions }))
    expect(asked).toMatchObject({
      input: [
        {
          options: [
            { label: 'FastAPI', description: 'FastAPI (async, modern)' },
            { label: 'Flask', description: 'Flask (small)' },
          ],
        },
      ],
    })
  })

  test('for permission is a question with the answers Allow and Deny', () => {
    expect(say(started, permission)).toEqual([call, question, result])
    expect(say(started, request({ tool: 'Bash', toolId: 't1' }))).toEqual([
      call,
      allowed('Allow Bash?'),
      result,
    ])
  })

  test('shows the call that was not seen yet, and the call is not shown again', () => {
    expect(say(permission, started)).toEqual([call, question, result])
    expect(say(request({ tool: 'Bash', title: 'clean up', input }))).toEqual([call, question, result])
  })

  test('about another input than was shown shows it', () => {
    const other = { command: 'rm -r /' }
    expect(say(started, request({ ...about, input: other }))).toEqual([
      call,
      { ...call, input: other },
      allowed('Allow Bash: rm -r / (clean up)?'),
      result,
    ])
  })

  const files = (...paths: string[]) => ({ locations: paths.map((path) => ({ path })) })
  const described = { command: 'rm -r build', description: 'clean up' }
  test.each([
    [{ tool: 'Bash', input }, 'Bash: rm -r build'],
    [{ tool: 'Bash', title: 'clean up', input: described }, 'Bash: rm -r build'],
    [{ tool: 'shell', input: { command: ['rm', '-r', 'build'] } }, 'shell: rm -r build'],
    [{ tool: 'Write', title: 'a.txt', input: { content: 'x' }, ...files('/w/a.txt') }, 'Write: /w/a.txt'],
    [{ tool: 'patch', ...files('a', 'b', 'a', 'c', 'd', 'e') }, 'patch: a, b, c and 2 more'],
    [{ tool: 'WebFetch', title: 'https://a.example' }, 'WebFetch: https://a.example'],
  ])('shows the command or the path: %o', (more, subject) => {
    expect(say(request(more))).toContainEqual(allowed(`Allow ${subject}?`))
  })

  test('is shown immediately, for any title', () => {
    const title = `${'?'.repeat(200_000)}x`
    expect(say(request({ title }))).toEqual([allowed(`Allow ${title}?`), result])
  })

  test.each([
    [{ kind: 'permission' }, 'Allow this?'],
    [{ kind: 'permission', title: 'May I run this?' }, 'Allow May I run this?'],
    [{ kind: 'plan', title: 'ExitPlanMode' }, 'Approve this plan?'],
    [{ kind: 'login' }, 'The agent needs a login. Continue?'],
    [{ kind: 'login', title: 'Open the page' }, 'Open the page'],
    [{ kind: 'question' }, 'Go on?'],
  ] as const)('%o is phrased as a question', (more, header) => {
    expect(say(request(more))).toEqual([allowed(header), result])
  })

  test('for answers is only the question, for any tool name', () => {
    const questions = [{ id: 'q', text: 'Which?', options: [] }]
    const asked = { header: 'Which?', options: [], multiSelect: false }
    expect(say(request({ kind: 'question', tool: 'ask_user', input: { questions }, questions }))).toEqual([
      { type: 'tool_use', tool: 'AskUserQuestion', input: [asked], request_id: 'e1.0' },
      result,
    ])
    expect(say(request({ kind: 'question', questions: [] }))).toEqual([allowed('Go on?'), result])
  })

  test('that a policy or a hook answers is not a question', () => {
    expect(say(request({ ...about, answeredBy: 'policy' }))).toEqual([])
    expect(say(request({ ...about, answeredBy: 'hook' }))).toEqual([])
  })

  test('that does not block ends the exchange as well: a client can answer it in the next exchange only', () => {
    expect(say(started, request({ ...about, blocking: false }))).toEqual([call, question, result])
  })

  test('beside another is the next exchange', () => {
    const second = request({ ...about, requestId: 'e1.1', toolId: 't2' })
    const messages = say(started, permission, second)
    expect(messages.filter(endsExchange)).toHaveLength(2)
    expect(messages.slice(3, 6)).toEqual([system, call, { ...question, request_id: 'e1.1' }])
  })
})

describe('a question of the agent', () => {
  const tool = { toolId: 't1', name: 'AskUserQuestion', kind: 'other' } as const
  const input = {
    questions: [
      {
        question: 'Which colour?',
        header: 'Colour',
        options: [{ label: 'Red', description: 'warm' }, { label: 'Blue' }],
        multiSelect: false,
      },
      { question: 'Which sizes?', options: [], multiSelect: true },
    ],
  }
  const started: Event = { type: 'tool.started', ...tool, input }

  test('in the list form of this dialect, or with choices as text, keeps its input', () => {
    const options = [{ description: 'FastAPI (async, modern)' }, 'Flask']
    const list = [{ header: 'Which framework?', options, multiSelect: false }]
    const shown = ['FastAPI (async, modern)', 'Flask'].map((label) => ({ label, description: label }))
    for (const given of [list, { questions: list }]) {
      expect(say({ type: 'tool.started', ...tool, input: given }, over)).toEqual([
        {
          type: 'tool_use',
          tool: 'AskUserQuestion',
          input: [{ header: 'Which framework?', options: shown, multiSelect: false }],
        },
      ])
    }
  })
  const over: Event = { type: 'tool.completed', ...tool, status: 'error', error: 'nobody is there' }
  const call = {
    type: 'tool_use',
    tool: 'AskUserQuestion',
    input: [
      {
        header: 'Which colour?',
        options: [
          { label: 'Red', description: 'Red (warm)' },
          { label: 'Blue', description: 'Blue' },
        ],
        multiSelect: false,
      },
      { header: 'Which sizes?', options: [], multiSelect: true },
    ],
  }
  const asks = (more: Parameters<typeof request>[0] = {}) =>
    request({
      kind: 'question',
      tool: 'AskUserQuestion',
      questions: [{ id: 'q', text: 'Which colour?', options: [] }],
      ...more,
    })

  test('that no person can answer is shown as a call at its end, or at the end of the turn', () => {
    expect(say(started, over, completed())).toEqual([call, result])
    expect(say(started, completed({ outcome: 'lost' })).map(({ type }) => type)).toEqual([
      'tool_use',
      'error',
    ])
    expect(say(started, completed())).toEqual([call, result])
    expect(say(started, { type: 'session.ended', reason: 'lost' })[0]).toEqual(call)
    expect(say(started, asks({ toolId: 't1', answeredBy: 'policy' }), over)).toEqual([call])
  })

  test('is shown once, whether the call or the request comes first', () => {
    for (const events of [
      [started, asks(), over],
      [started, asks({ toolId: 't1' }), over],
      [asks({ toolId: 't1' }), started, over],
    ]) {
      const messages = say(...events, completed())
      expect(messages.filter(({ tool: name }) => name === 'AskUserQuestion')).toHaveLength(1)
      expect(messages[0]).toMatchObject({ request_id: 'e1.0' })
    }
  })

  test('is shown once for any tool name, if the request precedes the call', () => {
    const asked = asks({ tool: 'question', toolId: 't1' })
    const other: Event = { type: 'tool.started', ...tool, name: 'question', input }
    const messages = say(asked, other, over, completed())
    expect(messages.filter(({ type }) => type === 'tool_use')).toMatchObject([{ tool: 'AskUserQuestion' }])
  })

  test('that needs permission is shown before it is allowed', () => {
    const permission = request({ tool: 'AskUserQuestion', toolId: 't1' })
    const messages = say(started, permission, over, completed())
    expect(messages[0]).toEqual(call)
    expect(messages[1]).toMatchObject({ request_id: 'e1.0' })
    expect(messages.slice(2)).toEqual([result, system, result])
  })

  test.each([undefined, null, 'what?', { questions: 'what?' }, { questions: [] }, { questions: [7] }])(
    'that cannot be read (%j) has no input',
    (unread) => {
      const messages = say({ ...started, input: unread }, over)
      expect(messages).toEqual([{ type: 'tool_use', tool: 'AskUserQuestion' }])
      expect(StreamEvent.array().safeParse(messages).error).toBeUndefined()
    },
  )

  test('outside a turn is not shown', () => {
    expect(say(completed(), started, over)).toEqual([result])
  })
})
