import { expect, test } from 'vitest'
import type { AnswerCommand } from '../../../src/model/index.ts'
import { asks, call, half, halfText, init, openTalk, result, returned, Talk } from './claude-talk.ts'

const user = (text: string, more = {}) => ({
  type: 'user',
  message: { role: 'user', content: [{ type: 'text', text }] },
  parent_tool_use_id: null,
  session_id: '',
  ...more,
})
const control = (request_id: string, request: object) => ({ type: 'control_request', request_id, request })
const response = (request_id: string, answer: object) => ({
  type: 'control_response',
  response: { subtype: 'success', request_id, response: answer },
})

const SUGGESTIONS = [
  { type: 'addRules', rules: [{ toolName: 'Bash' }], behavior: 'allow', destination: 'localSettings' },
  { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
]
const FOR_SESSION = SUGGESTIONS.map((suggestion) => ({ ...suggestion, destination: 'session' }))

/** A live talk in which Claude waits for an answer. */
function asked(tool = 'Bash', input: unknown = { command: 'rm x' }): Talk {
  const talk = new Talk()
  talk.prompt()
  talk.hear(
    init(),
    call('t1', tool, input),
    asks('r1', tool, input, { tool_use_id: 't1', permission_suggestions: SUGGESTIONS }),
  )
  return talk
}

const question = () => asked('AskUserQuestion', { questions: [{ question: 'Which?' }, { question: 'How?' }] })

test('a list of questions, and choices without a label, are questions', () => {
  const list = [
    { header: 'Which?', options: [{ description: 'FastAPI (async)' }, 'Flask'], multiSelect: true },
    { question: 'How?', header: 'Way', options: [{ label: 'a', description: 'b' }] },
  ]
  for (const input of [list, { questions: list }]) {
    expect(asked('AskUserQuestion', input).only('request.opened')[0]?.questions).toEqual([
      {
        id: 'Which?',
        text: 'Which?',
        options: [{ label: 'FastAPI (async)' }, { label: 'Flask' }],
        multiple: true,
        other: true,
      },
      { id: 'How?', header: 'Way', text: 'How?', options: [{ label: 'a', description: 'b' }], other: true },
    ])
  }
})

test('opening, a prompt and closing become the documented lines', () => {
  const talk = new Talk()
  expect(talk.tell({ type: 'open' })).toEqual([control('c1', { subtype: 'initialize' })])
  expect(talk.prompt('line one\nline two', 'p1')).toEqual([user('line one\nline two', { uuid: 'p1' })])
  expect(talk.tell({ type: 'close' })).toEqual(['end'])
})

test('any prompt is one line of JSON', () => {
  const talk = new Talk()
  talk.conversation.begin(1)
  const step = talk.conversation.command({
    type: 'prompt',
    text: 'a\u2028b\r\n"}\n{"type":"control_request"}',
  })
  expect(step.writes).toHaveLength(1)
  expect(step.writes[0]).toMatchObject({ kind: 'text', text: expect.stringMatching(/^[^\n]*\n$/) })
})

test('images go before the text of their prompt', () => {
  const talk = new Talk()
  talk.conversation.begin(1)
  const images = [{ mimeType: 'image/png', data: 'AAAA' }]
  expect(talk.tell({ type: 'prompt', text: 'what is this?', images })).toMatchObject([
    {
      message: {
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          { type: 'text', text: 'what is this?' },
        ],
      },
    },
  ])
})

test('commands that go to the process have ids of their own', () => {
  const talk = new Talk()
  talk.tell({ type: 'open' })
  talk.prompt()
  expect(talk.tell({ type: 'interrupt' })).toEqual([control('c2', { subtype: 'interrupt' })])
  expect(talk.tell({ type: 'set_model', model: 'opus' })).toEqual([
    control('c3', { subtype: 'set_model', model: 'opus' }),
  ])
  expect(talk.tell({ type: 'set_policy', mode: 'plan' })).toEqual([
    control('c4', { subtype: 'set_permission_mode', mode: 'plan' }),
  ])
})

test('a policy is a mode where only approval and sandbox differ, and otherwise needs another process', () => {
  const talk = new Talk()
  const policy = { approval: 'ask', sandbox: 'read-only' } as const
  expect(talk.tell({ type: 'set_policy', policy })).toMatchObject([
    { request: { subtype: 'set_permission_mode', mode: 'plan' } },
  ])
  const { conversation } = talk
  const limited = { ...policy, maxSteps: 3 }
  expect(conversation.command({ type: 'set_policy', policy: limited }).applies).toBe('next_process')
  const open = { approval: 'auto-all', sandbox: 'none' } as const
  expect(conversation.command({ type: 'set_policy', policy: open }).applies).toBe('next_process')
})

test('a prompt that steers goes out while a turn is open, and is refused without one', () => {
  const talk = new Talk()
  expect(talk.tell({ type: 'steer', text: 'wait' })).toEqual([{ refused: 'conflict' }])
  talk.prompt()
  expect(talk.tell({ type: 'steer', text: 'wait', promptId: 's1' })).toEqual([user('wait', { uuid: 's1' })])
  talk.hear(result())
  expect(talk.tell({ type: 'steer', text: 'wait' })).toEqual([{ refused: 'conflict' }])
})

test.each<[string, Omit<AnswerCommand, 'type' | 'requestId'>, object]>([
  [
    'allowed once',
    { decision: 'allow', scope: 'once' },
    { behavior: 'allow', updatedInput: { command: 'rm x' } },
  ],
  [
    'allowed with no word on the scope',
    { decision: 'allow' },
    { behavior: 'allow', updatedInput: { command: 'rm x' } },
  ],
  [
    'allowed for the session, so that nothing is written into the project',
    { decision: 'allow', scope: 'session' },
    { behavior: 'allow', updatedInput: { command: 'rm x' }, updatedPermissions: FOR_SESSION },
  ],
  [
    'always allowed',
    { decision: 'allow', scope: 'always' },
    { behavior: 'allow', updatedInput: { command: 'rm x' }, updatedPermissions: SUGGESTIONS },
  ],
  [
    'allowed with another input',
    { decision: 'allow', input: { command: 'ls' } },
    { behavior: 'allow', updatedInput: { command: 'ls' } },
  ],
  ['denied', { decision: 'deny', message: 'no' }, { behavior: 'deny', message: 'no' }],
  ['denied without a word', { decision: 'deny' }, { behavior: 'deny', message: 'The user refused this.' }],
  [
    'denied, and the turn stopped',
    { decision: 'deny', message: 'no', interrupt: true },
    { behavior: 'deny', message: 'no', interrupt: true },
  ],
])('a permission that is %s', (_, answer, sent) => {
  expect(asked().answer('e1.r1', answer)).toEqual([response('r1', sent)])
})

test('an input that the answer changes is reported on the call', () => {
  const talk = asked()
  talk.answer('e1.r1', { decision: 'allow', input: { command: 'ls' } })
  expect(talk.events.slice(-2)).toMatchObject([
    { type: 'request.resolved', decision: 'allow', input: { command: 'ls' } },
    { type: 'tool.updated', toolId: 't1', input: { command: 'ls' } },
  ])
})

test('answers go by the text of their question, several joined', () => {
  const answers = { 'Which?': ['Red', 'Blue'], 'How?': ['', ' '] }
  expect(question().answer('e1.r1', { decision: 'answered', answers })).toMatchObject([
    response('r1', { behavior: 'allow', updatedInput: { answers: { 'Which?': 'Red, Blue' } } }),
  ])
})

test.each<[string, Omit<AnswerCommand, 'type' | 'requestId'>]>([
  ['no answers', { decision: 'answered' }],
  ['an empty list', { decision: 'answered', answers: { 'Which?': [] } }],
  ['blanks', { decision: 'answered', answers: { 'Which?': ['', '  '] } }],
  ['a mere yes', { decision: 'allow' }],
])('a question is not answered by %s, and stays open', (_, answer) => {
  const talk = question()
  expect(talk.answer('e1.r1', answer)).toEqual([{ refused: 'invalid_request' }])
  expect(talk.only('request.resolved')).toEqual([])
  expect(talk.answer('e1.r1', { decision: 'answered', answers: { 'Which?': ['Red'] } })).toHaveLength(1)
})

test('answers do not allow a tool', () => {
  const answers = { anything: ['yes'] }
  expect(asked().answer('e1.r1', { decision: 'answered', answers })).toEqual([{ refused: 'invalid_request' }])
})

test('a plan is approved with the input of its request, which is empty', () => {
  const talk = new Talk()
  talk.prompt()
  talk.hear(
    call('t1', 'ExitPlanMode', { plan: 'first, second' }),
    asks('r1', 'ExitPlanMode', {}, { tool_use_id: 't1' }),
  )
  expect(talk.only('request.opened')).toMatchObject([{ kind: 'plan', input: { plan: 'first, second' } }])
  expect(talk.answer('e1.r1', { decision: 'allow' })).toEqual([
    response('r1', { behavior: 'allow', updatedInput: {} }),
  ])
})

test.each([
  ['was never asked', () => new Talk()],
  [
    'was answered',
    () => {
      const talk = asked()
      talk.answer('e1.r1', { decision: 'allow' })
      return talk
    },
  ],
  [
    'was withdrawn',
    () => {
      const talk = asked()
      talk.hear({ type: 'control_cancel_request', request_id: 'r1' })
      return talk
    },
  ],
  [
    'ended with its turn',
    () => {
      const talk = asked()
      talk.hear(result())
      return talk
    },
  ],
])('a request that %s cannot be answered', (_, talk) => {
  expect(talk().answer('e1.r1', { decision: 'allow' })).toEqual([{ refused: 'request_not_found' }])
})

test('the decider of a denial is kept, whatever Claude reports', () => {
  for (const by of ['person', 'policy', 'hook'] as const) {
    const talk = asked()
    talk.answer('e1.r1', { decision: 'deny', by })
    const meta = [{ id: 't1', permission_decision: { decision: 'reject', source: 'user_reject' } }]
    talk.hear(returned('t1', 'no', { tool_result_meta: meta }), result())
    expect(talk.only('tool.completed')).toMatchObject([{ status: 'denied', deniedBy: by }])
    expect(talk.only('turn.completed')).toMatchObject([{ outcome: by === 'person' ? 'completed' : 'denied' }])
  }
})

test('a denial by a person of a call that never returns does not deny the turn', () => {
  const talk = asked()
  talk.answer('e1.r1', { decision: 'deny' })
  talk.hear(result())
  expect(talk.only('tool.completed')).toMatchObject([{ status: 'denied', deniedBy: 'person', settled: true }])
  expect(talk.only('turn.completed')).toMatchObject([{ outcome: 'completed', denials: 1 }])
})

test('a request of another process of the session has another id', () => {
  const talk = new Talk()
  talk.conversation.launch()
  talk.prompt()
  talk.hear(asks('r1', 'Bash', {}))
  expect(talk.only('request.opened')).toMatchObject([{ requestId: 'e2.r1' }])
})

test('a repeated open request is reported once', () => {
  const talk = openTalk()
  talk.hear(call('t1'), asks('r1', 'Bash', {}), asks('r1', 'Bash', {}))
  expect(talk.only('request.opened')).toMatchObject([{ requestId: 'e1.r1' }])
  expect(talk.answer('e1.r1', { decision: 'allow' })).toHaveLength(1)
})

test('a one-shot process reads only its prompt from stdin', () => {
  const talk = new Talk('oneshot')
  talk.conversation.begin(1)
  const { writes } = talk.conversation.command({ type: 'prompt', text: '--help\n-x' })
  expect(writes).toEqual([{ kind: 'text', text: '--help\n-x' }, { kind: 'end' }])
  for (const type of ['open', 'close', 'interrupt'] as const) expect(talk.tell({ type })).toEqual([])
  const image = { mimeType: 'image/png', data: 'AAAA' }
  expect([
    talk.tell({ type: 'steer', text: 'x' }),
    talk.tell({ type: 'answer', requestId: 'e1.r1', decision: 'allow' }),
    talk.tell({ type: 'set_model', model: 'opus' }),
    talk.tell({ type: 'set_policy', mode: 'plan' }),
    talk.tell({ type: 'prompt', text: 'x', images: [image] }),
  ]).toEqual(Array(5).fill([{ refused: 'unsupported_option' }]))
})

test('lines of another client are decoded as the same commands', () => {
  const commands = [
    [() => new Talk(), user('hello', { uuid: 'p1' }), { type: 'prompt', text: 'hello', promptId: 'p1' }],
    [() => new Talk(), { ...user(''), message: { content: 'hello' } }, { type: 'prompt', text: 'hello' }],
    [asked, user('wait'), { type: 'steer', text: 'wait' }],
    [asked, control('x', { subtype: 'interrupt' }), { type: 'interrupt' }],
    [asked, control('x', { subtype: 'set_model', model: 'opus' }), undefined],
    [asked, response('r1', { behavior: 'allow' }), { decision: 'allow', scope: 'once' }],
    [
      asked,
      response('r1', { behavior: 'allow', updatedInput: { command: 'ls' } }),
      { decision: 'allow', scope: 'once', input: { command: 'ls' } },
    ],
    [
      asked,
      response('r1', { behavior: 'allow', updatedPermissions: [SUGGESTIONS[1]] }),
      { decision: 'allow', scope: 'session' },
    ],
    [
      asked,
      response('r1', { behavior: 'allow', updatedPermissions: SUGGESTIONS }),
      { decision: 'allow', scope: 'always' },
    ],
    [asked, response('r1', { behavior: 'deny', message: 'no' }), { decision: 'deny', message: 'no' }],
    [
      question,
      response('r1', {
        behavior: 'allow',
        updatedInput: { answers: { 'Which?': 'Red', 'How?': { toString: 1 } } },
      }),
      { decision: 'answered', answers: { 'Which?': ['Red'], 'How?': ['{"toString":1}'] } },
    ],
    [asked, response('unknown', { behavior: 'allow' }), undefined],
    [asked, 'not an object', undefined],
  ] as const
  for (const [talk, value, command] of commands) {
    const sent = talk().conversation.sent({ stream: 'stdout', text: '', value })
    if (command === undefined) expect(sent).toBeUndefined()
    else expect(sent).toMatchObject(command)
  }
})

test('an interrupt while nothing runs does not colour the next turn', () => {
  const talk = new Talk()
  talk.tell({ type: 'interrupt' })
  talk.prompt()
  talk.hear(asks('r1', 'Bash', {}), { type: 'control_cancel_request', request_id: 'r1' })
  expect(talk.only('request.withdrawn')).toMatchObject([{ reason: 'agent' }])
})

test('a queued prompt starts the turn that the agent reports for it', () => {
  const started = (command_uuid: string) => ({ type: 'command_lifecycle', command_uuid, state: 'started' })
  const talk = new Talk()
  talk.prompt('first', 'p1')
  talk.tell({ type: 'steer', text: 'second', promptId: 'p2' })
  talk.tell({ type: 'steer', text: 'third', promptId: 'p3' })
  talk.hear(...half('m1', halfText('hi')), result(), started('p3'), started('p2'), result())
  expect(talk.only('turn.started').map(({ prompt }) => prompt)).toEqual(['first', 'third'])
  expect(talk.only('turn.steered').map(({ prompt }) => prompt)).toEqual(['second'])
})
