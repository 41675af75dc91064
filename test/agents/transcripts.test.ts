import { describe, expect, test } from 'vitest'
import { decodeRecording } from '../../src/compose/decode.ts'
import type { Event } from '../../src/model/index.ts'

type Of<T extends Event['type']> = Extract<Event, { type: T }>
type Line = readonly ['in' | 'out', object]

/** What a conversation that was written down in both directions says. */
function played(agent: string, lines: readonly Line[]) {
  const text = lines.map(([dir, msg], t) => `${JSON.stringify({ t, dir, msg })}\n`).join('')
  const { entries } = decodeRecording({ agent, launch: 'live', stdout: [new TextEncoder().encode(text)] })
  const events = entries.map(({ event }) => event)
  return <T extends Event['type']>(type: T) => events.filter((event): event is Of<T> => event.type === type)
}

describe('Codex with several threads', () => {
  let calls = 0
  const usage = { totalTokens: 15, inputTokens: 10, outputTokens: 5 }

  const opens = (method: string, id: string): Line[] => [
    ['in', { method, id: ++calls, params: {} }],
    ['out', { id: calls, result: { thread: { id }, model: 'gpt-5.5' } }],
  ]

  /** A turn of one call of the model. */
  function turn(threadId: string, turnId: string, ...more: Line[]): Line[] {
    const of = { threadId, turnId }
    const item = { type: 'agentMessage', id: `m-${turnId}`, text: turnId }
    return [
      [
        'in',
        { method: 'turn/start', id: ++calls, params: { threadId, input: [{ type: 'text', text: 'go' }] } },
      ],
      ['out', { id: calls, result: { turn: { id: turnId } } }],
      ['out', { method: 'turn/started', params: { threadId, turn: { id: turnId } } }],
      ...more,
      ['out', { method: 'item/completed', params: { ...of, item } }],
      [
        'out',
        { method: 'thread/tokenUsage/updated', params: { ...of, tokenUsage: { total: usage, last: usage } } },
      ],
      ['out', { method: 'turn/completed', params: { threadId, turn: { id: turnId, status: 'completed' } } }],
    ]
  }

  test('has the usage of each, though their totals are equal', () => {
    const of = played('codex', [
      ...opens('thread/start', 'th1'),
      ...turn('th1', 't1'),
      ...opens('thread/start', 'th2'),
      ...turn('th2', 't2'),
    ])
    const told = { outcome: 'completed', usage: { input: 10, output: 5 } }
    expect(of('turn.completed')).toMatchObject([told, told])
  })

  test.each([
    ['one that was forked', 'thread/fork', 'th2', 'th2'],
    ['an earlier one', 'thread/start', 'th2', 'th1'],
  ])('continues in %s', (_, method, opened, spoken) => {
    const of = played('codex', [
      ...opens('thread/start', 'th1'),
      ...turn('th1', 't1'),
      ...opens(method, opened),
      ...turn(spoken, 't2'),
    ])
    expect(of('subagent.started')).toEqual([])
    expect(of('text.completed').map(({ text, parent }) => [text, parent])).toEqual([
      ['t1', undefined],
      ['t2', undefined],
    ])
    expect(of('turn.completed').map(({ outcome }) => outcome)).toEqual(['completed', 'completed'])
  })

  test('does not count for a turn what a sub-agent was refused before it', () => {
    const states = { kid: { status: 'running', message: null } }
    const spawn = {
      type: 'collabAgentToolCall',
      id: 'sp',
      tool: 'spawnAgent',
      status: 'completed',
      receiverThreadIds: ['kid'],
      agentsStates: states,
    }
    const shell = { type: 'commandExecution', id: 'c1', command: 'ls', cwd: '/w', status: 'declined' }
    const of = played('codex', [
      ...opens('thread/start', 'th1'),
      ...turn(
        'th1',
        't1',
        ['out', { method: 'item/completed', params: { threadId: 'th1', turnId: 't1', item: spawn } }],
        ['out', { method: 'turn/started', params: { threadId: 'kid', turn: { id: 'k1' } } }],
      ),
      ['out', { method: 'item/completed', params: { threadId: 'kid', turnId: 'k1', item: shell } }],
      ...turn('th1', 't2'),
    ])
    expect(of('tool.completed').at(-1)).toMatchObject({ status: 'denied', parent: 'kid' })
    expect(of('turn.completed')).toMatchObject([
      { outcome: 'completed', denials: 0 },
      { outcome: 'completed', denials: 0 },
    ])
  })
})

describe('an agent over ACP with several sessions', () => {
  const rpc = (message: object) => ({ jsonrpc: '2.0', ...message })
  let calls = 0

  const call = (method: string, params: object, answer: object): Line[] => [
    ['in', rpc({ id: ++calls, method, params })],
    ['out', rpc({ id: calls, ...answer })],
  ]
  const opened = (sessionId: string) =>
    call('session/new', { cwd: '/w', mcpServers: [] }, { result: { sessionId } })
  const hello = call(
    'initialize',
    { protocolVersion: 1 },
    { result: { protocolVersion: 1, agentCapabilities: {} } },
  )

  function turn(sessionId: string, text: string): Line[] {
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }
    const prompt = { sessionId, prompt: [{ type: 'text', text: 'go' }] }
    const emitted: Line = ['out', rpc({ method: 'session/update', params: { sessionId, update } })]
    return call('session/prompt', prompt, { result: { stopReason: 'end_turn' } }).toSpliced(1, 0, emitted)
  }

  test.each([
    [
      'a session that could not be loaded',
      call('session/load', { sessionId: 'nope' }, { error: { code: -32602, message: 'no' } }),
    ],
    ['another one', [...opened('s2'), ...turn('s2', 'two')]],
  ])('is decoded in the session that receives prompts, after %s', (_, between) => {
    const of = played('acp', [
      ...hello,
      ...opened('s1'),
      ...turn('s1', 'one'),
      ...between,
      ...turn('s1', 'three'),
    ])
    expect(of('text.completed').at(-1)).toMatchObject({ text: 'three' })
    expect(of('turn.completed').at(-1)).toMatchObject({ outcome: 'completed', result: 'three' })
  })
})

test('a failed answer to Claude is not a denial', () => {
  const tool = { type: 'tool_use', id: 'w', name: 'Write', input: { file_path: '/a' } }
  const ask = { subtype: 'can_use_tool', tool_name: 'Write', input: tool.input, tool_use_id: 'w' }
  const failed = {
    type: 'tool_result',
    tool_use_id: 'w',
    content: 'Tool permission request failed',
    is_error: true,
  }
  const of = played('claude', [
    ['in', { type: 'user', message: { role: 'user', content: 'go' } }],
    ['out', { type: 'system', subtype: 'init', session_id: 's', model: 'm', tools: [] }],
    ['out', { type: 'assistant', message: { id: 'm1', content: [tool] }, parent_tool_use_id: null }],
    ['out', { type: 'control_request', request_id: 'q1', request: ask }],
    ['in', { type: 'control_response', response: { subtype: 'error', request_id: 'q1', error: 'boom' } }],
    ['out', { type: 'user', message: { content: [failed] }, parent_tool_use_id: null }],
    ['out', { type: 'result', subtype: 'success', is_error: false, result: 'ok', session_id: 's' }],
  ])
  expect(of('request.resolved')).toEqual([])
  expect(of('request.withdrawn')).toHaveLength(1)
  expect(of('tool.completed')).toMatchObject([{ status: 'error' }])
  expect(of('turn.completed')).toMatchObject([{ outcome: 'completed', denials: 0 }])
})
