import { describe, expect, test } from 'vitest'
import { type AnswerCommand, DEFAULT_POLICY, type Event, type Policy } from '../../../src/model/index.ts'
import { answerFor } from '../../../src/sessions/turns/approval.ts'
import { asks, eventsOf, result, Talk, update } from './acp-talk.ts'

const opened = (events: readonly Event[]) => eventsOf(events, 'request.opened')

describe('the subject of a request', () => {
  const policy: Policy = { ...DEFAULT_POLICY, approval: 'ask-dangerous' }
  const isInside = (path: string) => path.startsWith('/project/')
  const answers = (events: readonly Event[]) =>
    opened(events).map((request) => answerFor(request, { policy, attended: true, isInside })?.decision)

  const think = { toolCallId: 't', title: 'Tool', kind: 'think', status: 'pending', rawInput: { a: 1 } }
  const edit = {
    toolCallId: 't',
    title: 'Edit',
    kind: 'edit',
    status: 'pending',
    rawInput: { path: '/project/a.txt' },
    locations: [{ path: '/project/a.txt' }],
  }
  const elsewhere = { rawInput: { path: '/etc/passwd' }, locations: [{ path: '/etc/passwd' }] }

  test('a policy decides by the kind in the request, not by the announced one', () => {
    const talk = new Talk().begin()
    const command = { toolCallId: 't', title: 'rm -r /', kind: 'execute', rawInput: { command: 'rm -r /' } }
    const emitted = talk.hear(update('tool_call', think), asks(0, command))
    expect(opened(emitted)).toMatchObject([{ toolKind: 'execute', input: { command: 'rm -r /' } }])
    expect(answers(emitted)).toEqual([undefined])
    expect(eventsOf(emitted, 'tool.updated')).toMatchObject([{ toolId: 't', kind: 'execute' }])
    talk.hear(update('tool_call_update', { toolCallId: 't', status: 'completed' }))
    expect(talk.only('tool.completed')).toMatchObject([{ kind: 'execute' }])
  })

  test('a policy decides by the files in the request', () => {
    const emitted = new Talk().begin().hear(update('tool_call', edit), asks(0, edit))
    expect(answers(emitted)).toEqual(['allow'])
    const other = new Talk().begin().hear(update('tool_call', edit), asks(0, { ...edit, ...elsewhere }))
    expect(opened(other)).toMatchObject([{ locations: elsewhere.locations }])
    expect(answers(other)).toEqual([undefined])
  })

  test.each([
    ['an update names other files', elsewhere, {}],
    ['an update has another input, and names no files', { rawInput: elsewhere.rawInput }, {}],
    ['the question has another input, and names no files', {}, { rawInput: elsewhere.rawInput }],
    ['the question names none', {}, { locations: [] }],
  ])('announced files do not apply when %s', (_when, updated, asked) => {
    const emitted = new Talk()
      .begin()
      .hear(
        update('tool_call', edit),
        update('tool_call_update', { toolCallId: 't', ...updated }),
        asks(0, { toolCallId: 't', ...asked }),
      )
    const [request, ...others] = opened(emitted)
    expect(others).toEqual([])
    expect(request).toBeDefined()
    expect(request?.locations ?? []).not.toContainEqual({ path: '/project/a.txt' })
    expect(answers(emitted)).toEqual([undefined])
  })

  test('a kind that is reported late is the kind of the call', () => {
    const talk = new Talk().begin()
    talk.hear(
      update('tool_call', think),
      update('tool_call_update', { toolCallId: 't', kind: 'execute' }),
      asks(0, { toolCallId: 't' }),
      update('tool_call_update', { toolCallId: 't', status: 'completed' }),
    )
    expect(talk.only('request.opened')).toMatchObject([{ toolKind: 'execute' }])
    expect(talk.only('tool.completed')).toMatchObject([{ kind: 'execute' }])
  })

  test('a question that names nothing but the call shows what is known of it', () => {
    const talk = new Talk().begin()
    const call = { ...think, title: 'rm -r build', kind: 'execute', rawInput: { command: 'rm -r build' } }
    const emitted = talk.hear(update('tool_call', call), asks(0, { toolCallId: 't' }))
    expect(opened(emitted)).toMatchObject([
      { kind: 'permission', title: 'rm -r build', input: { command: 'rm -r build' } },
    ])
  })

  test('a question about a call that is known to leave a plan is a plan', () => {
    const talk = new Talk().begin()
    const call = { toolCallId: 't', title: 'Ready?', kind: 'switch_mode', rawInput: { plan: 'All of it.' } }
    const emitted = talk.hear(update('tool_call', call), asks(0, { toolCallId: 't' }))
    expect(opened(emitted)).toMatchObject([{ kind: 'plan', input: { plan: 'All of it.' } }])
  })

  test('an option that is neither approval nor denial is not offered', () => {
    const talk = new Talk().begin()
    const options = [
      { optionId: 'go', name: 'Go on', kind: 'proceed' },
      { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
    ]
    const emitted = talk.hear(asks(0, { toolCallId: 't', title: 'ls' }, options))
    expect(opened(emitted)[0]?.options.map(({ id }) => id)).toEqual(['yes'])
    expect(talk.answer('e1.0', { decision: 'deny' })).toEqual([
      { jsonrpc: '2.0', id: 0, result: { outcome: { outcome: 'cancelled' } } },
    ])
  })

  test('a request starts the turn in a recording without our input', () => {
    const talk = new Talk()
    const emitted = talk.hear(asks(0, { toolCallId: 't', title: 'ls', kind: 'execute' }))
    expect(emitted.map(({ type }) => type)).toEqual(['turn.started', 'tool.started', 'request.opened'])
  })
})

describe('a denied call', () => {
  const content = [{ type: 'diff', path: '/project/a', oldText: null, newText: 'x' }]
  const call = { toolCallId: 't', title: 'Write', kind: 'edit', status: 'pending', content }
  const done = update('tool_call_update', { toolCallId: 't', status: 'completed' })

  test('a call that was refused has not been made, even if the agent calls it completed', () => {
    const talk = new Talk().begin()
    talk.hear(update('tool_call', call), asks(0, { toolCallId: 't' }))
    talk.answer('e1.0', { decision: 'deny' })
    talk.hear(done, result(3, { stopReason: 'end_turn' }))
    expect(talk.only('tool.completed')).toMatchObject([{ status: 'denied', deniedBy: 'person' }])
    expect(talk.only('file.changed')).toEqual([])
    expect(talk.only('turn.completed')).toMatchObject([{ outcome: 'completed', denials: 1 }])
  })

  test('a sub-agent that was refused never ran', () => {
    const talk = new Talk().begin({ sessionId: 's1' }, '@agentclientprotocol/claude-agent-acp')
    const task = { toolCallId: 't', name: 'Task', status: 'pending', rawInput: { prompt: 'Look.' } }
    talk.hear(update('tool_call', task), asks(0, { toolCallId: 't' }))
    talk.answer('e1.0', { decision: 'deny' })
    talk.hear(done)
    expect(talk.only('tool.completed')).toMatchObject([{ status: 'denied' }])
    expect(talk.only('subagent.started')).toEqual([])
  })

  test('a call that is allowed after all is made', () => {
    const talk = new Talk().begin()
    talk.hear(update('tool_call', call), asks(0, { toolCallId: 't' }))
    talk.answer('e1.0', { decision: 'deny' })
    talk.hear(asks(1, { toolCallId: 't' }))
    talk.answer('e1.1', { decision: 'allow' })
    talk.hear(done)
    expect(talk.only('tool.completed')).toMatchObject([{ status: 'success' }])
    expect(talk.only('file.changed')).toMatchObject([{ path: '/project/a' }])
  })
})

describe('a cancelled call', () => {
  const takenBack = (id: number) => ({ jsonrpc: '2.0', id, result: { outcome: { outcome: 'cancelled' } } })

  test('a denial that cancels the turn cancels every other request', () => {
    const talk = new Talk().begin()
    talk.hear(asks(0, { toolCallId: 't', title: 'ls' }), asks(1, { toolCallId: 'u', title: 'ls' }))
    expect(talk.answer('e1.0', { decision: 'deny', interrupt: true })).toEqual([
      { jsonrpc: '2.0', id: 0, result: { outcome: { outcome: 'selected', optionId: 'no' } } },
      { jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: 's1' } },
      takenBack(1),
    ])
    expect(talk.only('request.withdrawn')).toMatchObject([{ requestId: 'e1.1', reason: 'interrupted' }])
    expect(talk.tell({ type: 'interrupt' })).toEqual([])
  })

  test('a request that crosses the cancel is cancelled immediately, and not shown', () => {
    const talk = new Talk().begin()
    talk.tell({ type: 'interrupt' })
    expect(talk.write(asks(5, { toolCallId: 't', title: 'ls', kind: 'execute' }))).toEqual([takenBack(5)])
    expect(talk.only('request.opened')).toEqual([])
    talk.hear(result(3, { stopReason: 'cancelled' }))
    expect(talk.only('tool.completed')).toMatchObject([{ toolId: 't', status: 'cancelled' }])
  })
})

describe('a question that is sent as a permission request', () => {
  const asked = () => {
    const talk = new Talk('antigravity-acp', {
      policy: { approval: 'auto-all', sandbox: 'full-access' },
    }).begin()
    talk.write({
      jsonrpc: '2.0',
      id: 7,
      method: 'session/request_permission',
      params: {
        sessionId: 'native-1',
        toolCall: { toolCallId: 'interaction_1', title: 'Which database?' },
        options: [
          { optionId: 'o1', kind: 'allow_once', name: 'SQLite' },
          { optionId: 'o2', kind: 'allow_once', name: 'PostgreSQL' },
        ],
      },
    })
    const [request] = talk.only('request.opened')
    return { talk, request, requestId: request?.requestId ?? '' }
  }

  test('is a question, which no policy answers', () => {
    const { talk, request } = asked()
    expect(request).toMatchObject({
      kind: 'question',
      options: [],
      questions: [
        { id: 'answer', text: 'Which database?', options: [{ label: 'SQLite' }, { label: 'PostgreSQL' }] },
      ],
    })
    expect(talk.only('tool.started')).toEqual([])
  })

  test.each<[Partial<AnswerCommand>, object]>([
    [
      { decision: 'answered', answers: { answer: ['PostgreSQL'] } },
      { outcome: 'selected', optionId: 'o2' },
    ],
    [{ decision: 'deny' }, { outcome: 'cancelled' }],
  ])('%j selects %j', (answer, outcome) => {
    const { talk, requestId } = asked()
    expect(talk.answer(requestId, { decision: 'deny', ...answer })).toMatchObject([
      { id: 7, result: { outcome } },
    ])
  })

  test.each<Partial<AnswerCommand>>([
    { decision: 'allow' },
    { decision: 'answered', answers: { answer: ['Oracle'] } },
  ])('%j is refused', (answer) => {
    const { talk, requestId } = asked()
    expect(talk.answer(requestId, { decision: 'deny', ...answer })).toEqual([{ refused: 'invalid_request' }])
  })
})
