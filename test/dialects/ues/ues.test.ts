import { describe, expect, test } from 'vitest'
import type { DialectOptions } from '../../../src/dialects/dialect.ts'
import type { Event } from '../../../src/model/index.ts'
import { SAMPLES } from '../../model/samples.ts'
import {
  begun,
  capabilities,
  completed,
  hello,
  type Of,
  say,
  sayWith,
  started,
  tool,
  typesOf,
} from './ues-scene.ts'

test('a run with a tool reads as the document asks for it', () => {
  const usage = { input: 200, output: 50, cacheRead: 40, cacheWrite: 20, total: 310, costUsd: 0.001908 }
  const input = { command: 'ls', description: 'run a command' }
  const messages = sayWith(
    {},
    ...begun,
    hello,
    { type: 'text.delta', messageId: 'm4:0', text: 'I will list files.' },
    { type: 'text.completed', messageId: 'm4:0', text: 'I will list files.' },
    { type: 'tool.input.delta', toolId: 't1', name: 'Bash', delta: '{"command":"ls"' },
    { type: 'tool.started', ...tool, title: 'ls', input },
    { type: 'tool.completed', ...tool, status: 'success', output: 'README.md', durationMs: 4 },
    { type: 'usage.reported', scope: 'turn', ...usage, source: 'agent' },
    completed({ result: 'Listing done.', usage, nativeReason: 'end_turn' }),
  )
  const base = { agent: 'claude-code', sessionId: '3f0f4a8e-5f0a-4f57-9d5e-0c6a4d3b2a11' }
  const about = { messageId: 'm4:0' }
  expect(messages).toEqual([
    {
      type: 'init',
      ...base,
      timestamp: 1001,
      payload: { model: 'opus', cwd: '/project', tools: ['Bash', 'Read'], capabilities },
      metadata: { nativeSessionId: 'n1', agentVersion: '2.1' },
    },
    {
      type: 'text_delta',
      ...base,
      timestamp: 1003,
      payload: { delta: 'I will list files.' },
      metadata: about,
    },
    { type: 'text', ...base, timestamp: 1004, payload: { content: 'I will list files.' }, metadata: about },
    {
      type: 'tool_use',
      ...base,
      timestamp: 1006,
      payload: { toolName: 'Bash', toolUseId: 't1', input, description: 'ls' },
    },
    {
      type: 'tool_result',
      ...base,
      timestamp: 1007,
      payload: { toolUseId: 't1', toolName: 'Bash', status: 'success', output: 'README.md', durationMs: 4 },
    },
    {
      type: 'done',
      ...base,
      timestamp: 1009,
      payload: {
        status: 'success',
        result: 'Listing done.',
        usage: { inputTokens: 260, outputTokens: 50, toolUses: 1, totalCostUsd: 0.001908 },
        durationMs: 1439,
      },
      metadata: { outcome: 'completed', nativeReason: 'end_turn' },
    },
  ])
  expect(Object.keys(messages[1] ?? {})).toEqual([
    'type',
    'agent',
    'timestamp',
    'sessionId',
    'payload',
    'metadata',
  ])
})

describe('init', () => {
  test('comes first, even if the agent never identifies itself', () => {
    const messages = sayWith({}, { ...started, model: 'asked' }, SAMPLES['turn.started'], completed())
    expect(typesOf(messages)).toEqual(['init', 'done'])
    expect(messages[0]?.payload).toMatchObject({ model: 'asked', tools: [] })
    expect(sayWith({}, ...begun, completed())[0]?.payload).toMatchObject({ model: '' })
  })

  test('waits for the handshake, so that it can include the model and the tools', () => {
    const messages = sayWith(
      {},
      ...begun,
      { type: 'session.updated', models: [{ id: 'opus' }] },
      SAMPLES['hook.started'],
      SAMPLES['hook.completed'],
      SAMPLES['notice.raised'],
      SAMPLES['limit.reported'],
      hello,
    )
    expect(typesOf(messages)).toEqual([
      'init',
      'claude-code:hook',
      'claude-code:hook',
      'mainstem:notice',
      'error',
    ])
    expect(messages[0]?.payload).toMatchObject({ model: 'opus', tools: ['Bash', 'Read'] })
    const times = messages.map(({ timestamp }) => Number(timestamp))
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  test('does not wait in a session with a known agent: a retry is emitted immediately', () => {
    const again: Event = { type: 'turn.started', turn: 2, origin: 'prompt' }
    const messages = sayWith({}, ...begun, hello, completed(), again, SAMPLES['limit.reported'])
    expect(typesOf(messages)).toEqual(['init', 'done', 'init', 'error'])
    expect(messages[2]?.payload).toEqual(messages[0]?.payload)
  })

  test('does not wait for ever', () => {
    const notices = Array.from({ length: 100 }, () => SAMPLES['notice.raised'])
    const messages = sayWith({}, ...begun, ...notices)
    expect(messages).toHaveLength(101)
    expect(messages[0]?.type).toBe('init')
  })

  test('is emitted once per run; later changes are emitted as updates', () => {
    expect(say(hello, { type: 'session.updated', mode: 'plan' }).slice(1)).toEqual([
      { type: 'claude-code:session_update', payload: { mode: 'plan' } },
    ])
  })
})

test('every turn is a run, and nothing is emitted between runs', () => {
  const messages = sayWith(
    {},
    started,
    hello,
    SAMPLES['notice.raised'],
    SAMPLES['turn.started'],
    { type: 'tool.started', ...tool },
    SAMPLES['turn.queued'],
    completed(),
    SAMPLES['subagent.completed'],
    { type: 'turn.started', turn: 2, origin: 'prompt' },
    completed({ turn: 2 }),
    SAMPLES['session.ended'],
  )
  expect(typesOf(messages)).toEqual(['init', 'tool_use', 'done', 'init', 'done'])
  const uses = messages.filter(({ type }) => type === 'done').map(({ payload }) => payload)
  expect(uses).toMatchObject([{ usage: { toolUses: 1 } }, { usage: { toolUses: 0 } }])
})

test('a prompt that was dropped from the queue is not a run, and does not end the open one', () => {
  const dropped = completed({ turn: 2, outcome: 'interrupted' })
  expect(say(SAMPLES['turn.queued'], dropped, completed())).toMatchObject([
    { type: 'done', payload: { status: 'success' } },
  ])
})

describe('thinking', () => {
  const thought: Event = { type: 'thinking.completed', messageId: 'm1', text: 'Let me see.' }
  const raw = { ...started, capabilities: { ...capabilities, thinking: 'raw' as const } }
  const thoughts = (options: DialectOptions, of: Event) =>
    sayWith(options, of, SAMPLES['turn.started'], { ...thought, type: 'thinking.delta' }, thought).slice(1)

  test('is emitted whole if it is a summary', () => {
    expect(thoughts({}, started)).toMatchObject([{ type: 'thinking', payload: { summary: 'Let me see.' } }])
    expect(thoughts({}, raw)).toEqual([])
  })

  test('is up to the reader', () => {
    expect(thoughts({ thinking: 'raw' }, raw)).toHaveLength(1)
    expect(thoughts({ thinking: 'raw' }, started)).toHaveLength(1)
    expect(thoughts({ thinking: 'none' }, started)).toEqual([])
    expect(thoughts({ thinking: 'loud' }, raw)).toEqual([])
  })
})

test('text has its author and status, and is omitted when empty', () => {
  expect(
    say(
      { type: 'text.delta', messageId: 'm1', text: 'Hel', parent: 's1' },
      { type: 'message.discarded', messageId: 'm1', reason: 'stream_broken' },
      { type: 'text.completed', messageId: 'm2', text: 'Hello', partial: true, phase: 'final' },
      SAMPLES['text.delta'],
      SAMPLES['text.completed'],
    ),
  ).toEqual([
    { type: 'text_delta', payload: { delta: 'Hel' }, metadata: { messageId: 'm1', parent: 's1' } },
    { type: 'mainstem:discarded', payload: { messageId: 'm1', reason: 'stream_broken' } },
    {
      type: 'text',
      payload: { content: 'Hello' },
      metadata: { messageId: 'm2', partial: true, phase: 'final' },
    },
  ])
})

describe('a tool', () => {
  test.each([
    [undefined, {}],
    ['ls', { value: 'ls' }],
    [['ls'], { value: ['ls'] }],
    [null, { value: null }],
  ])('with the input %o has an object', (input, object) => {
    const [use] = say({ type: 'tool.started', ...tool, ...(input !== undefined && { input }) })
    expect(use?.payload).toEqual({ toolName: 'Bash', toolUseId: 't1', input: object })
  })

  test.each([
    [{ status: 'error', output: 'boom', error: 'exit 1' }, 'error', 'boom', { error: 'exit 1' }],
    [{ status: 'error', error: 'exit 1' }, 'error', 'exit 1', undefined],
    [{ status: 'error', output: '', error: 'spawn ENOENT' }, 'error', 'spawn ENOENT', undefined],
    [{ status: 'error', output: 'boom', exitCode: 3 }, 'error', 'boom', { exitCode: 3 }],
    [{ status: 'error', output: '' }, 'error', '', undefined],
    [{ status: 'denied' }, 'denied', null, undefined],
    [{ status: 'cancelled' }, 'error', null, { status: 'cancelled' }],
    [{ status: 'unknown', data: { a: 1 } }, 'success', { a: 1 }, { status: 'unknown' }],
    [{ status: 'success', parent: 's1' }, 'success', null, { parent: 's1' }],
  ] as const)('that ended with %o', (ended, status, output, metadata) => {
    const [, message] = say({ type: 'tool.started', ...tool }, { type: 'tool.completed', ...tool, ...ended })
    expect(message?.payload).toEqual({ toolUseId: 't1', toolName: 'Bash', status, output })
    expect(message?.metadata).toEqual(metadata)
  })

  test('that was shown in no run has no result in one', () => {
    const background = { ...tool, parent: 's1' }
    const turn: Event = { type: 'turn.started', turn: 2, origin: 'agent' }
    const over: Event = { type: 'tool.completed', ...background, status: 'success' }
    const between = say(
      completed(),
      { type: 'tool.started', ...background },
      turn,
      over,
      completed({ turn: 2 }),
    )
    expect(typesOf(between)).toEqual(['done', 'init', 'done'])
    const across = say({ type: 'tool.started', ...background }, completed(), turn, over, over)
    expect(typesOf(across)).toEqual(['tool_use', 'done', 'init', 'tool_result'])
  })

  test('of a sub-agent is not counted', () => {
    const [use, , done] = say(
      { type: 'tool.started', ...tool, parent: 's1' },
      { type: 'tool.started', ...tool, toolId: 't2' },
      completed(),
    )
    expect(use?.metadata).toEqual({ parent: 's1' })
    expect(done?.payload).toMatchObject({ usage: { toolUses: 1 } })
  })
})

describe('a request', () => {
  const opened = (more: Partial<Of<'request.opened'>>) => say({ ...SAMPLES['request.opened'], ...more })
  const metadata = { requestId: 'e1.0', kind: 'permission', options: [] }

  test('has the tool, and how to answer it', () => {
    expect(opened({ tool: 'Bash', toolId: 't1', title: 'clean up', input: { command: 'rm' } })).toEqual([
      {
        type: 'permission_request',
        payload: { toolName: 'Bash', toolUseId: 't1', input: { command: 'rm' }, reason: 'clean up' },
        metadata,
      },
    ])
    expect(opened({})[0]?.payload).toEqual({ toolName: 'permission', toolUseId: 'e1.0', input: {} })
  })

  test('for an answer is a question, for any tool name', () => {
    const questions = [{ id: 'q', text: 'Which?', options: [] }]
    expect(opened({ kind: 'question', tool: 'ask', questions })[0]?.payload).toEqual({
      toolName: 'AskUserQuestion',
      toolUseId: 'e1.0',
      input: { questions },
    })
  })

  test('that needs a person is an event even if none is available', () => {
    expect(typesOf(opened({ answeredBy: 'nobody' }))).toEqual(['permission_request'])
  })

  test('that a policy or a hook answers needs no person, but its answer is emitted', () => {
    expect(opened({ answeredBy: 'policy' })).toEqual([])
    expect(opened({ answeredBy: 'hook' })).toEqual([])
    expect(say(SAMPLES['request.resolved'], SAMPLES['request.withdrawn'])).toEqual([
      {
        type: 'mainstem:permission_resolved',
        payload: { requestId: 'e1.0', decision: 'allow', by: 'person' },
      },
      { type: 'mainstem:permission_withdrawn', payload: { requestId: 'e1.0', reason: 'agent' } },
    ])
  })
})
