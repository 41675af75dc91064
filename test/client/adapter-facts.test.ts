import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BoardAdapter, ClaudeAdapter, CodexAdapter, GeminiAdapter } from '../../src/client/adapters/index.ts'
import { AgentClient, type AgentEvent, MockTransport, type ProtocolAdapter } from '../../src/client/index.ts'
import { collect } from './scene.ts'

const linesOf = (text: string) => text.trim().split('\n')
const recorded = (agent: string, name: string) =>
  linesOf(readFileSync(`src/agents/${agent}/fixtures/${agent}/${name}/stdout.jsonl`, 'utf8'))
const adapt = (adapter: ProtocolAdapter, lines: Iterable<unknown>) => collect(adapter.adaptEvents(lines))
const words = (events: readonly AgentEvent[]) =>
  events.map((event) => (event.type === 'textChunk' ? event.content : '')).join('')

const THREAD = '{"type":"thread.started","thread_id":"sess_abc123xyz"}'
const DONE = '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}'

describe('an adapter makes up no fact', () => {
  it('reports only the settings that it was given', async () => {
    const [bare] = await adapt(new CodexAdapter(), [THREAD, DONE])
    expect(bare).toMatchObject({ type: 'sessionStarted', config: { agentType: 'codex' } })
    expect(Reflect.get(bare ?? {}, 'config')).toEqual({ agentType: 'codex' })
    const config = { approvalMode: 'ask', sandboxMode: 'workspaceWrite', model: 'gpt-4' } as const
    const told = new CodexAdapter({ workingDirectory: '/path/to/project', config })
    expect((await adapt(told, [THREAD, DONE]))[0]).toMatchObject({
      config: { agentType: 'codex', workingDirectory: '/path/to/project', ...config },
    })
  })

  it('has the model that the agent names', async () => {
    const [started] = await adapt(new ClaudeAdapter(), recorded('claude', 'file'))
    expect(started).toMatchObject({ config: { agentType: 'claude', model: 'claude-opus-5-5' } })
  })

  it('knows no exit code', async () => {
    const events = await adapt(new CodexAdapter(), [THREAD])
    expect(events.at(-1)).toMatchObject({ type: 'sessionEnded', reason: 'failed' })
    expect(JSON.stringify(events)).not.toContain('exit code')
  })

  it('leaves a relative path as it was written', async () => {
    const args = { file_path: './src/auth.ts', content: 'x' }
    const lines = [
      { type: 'tool_call', name: 'write_file', args },
      { type: 'result', status: 'success' },
    ]
    const events = await adapt(new GeminiAdapter(), lines)
    expect(events).toContainEqual(expect.objectContaining({ type: 'fileWritten', filePath: './src/auth.ts' }))
  })
})

describe('an adapter loses no fact', () => {
  it('error items, reasoning and to-do lists of Codex have events', async () => {
    const item = (type: string, more: object) => ({
      type: 'item.completed',
      item: { id: type, type, ...more },
    })
    const events = await adapt(new CodexAdapter(), [
      THREAD,
      item('error', { message: 'the sandbox is off' }),
      item('reasoning', { text: 'Look first.' }),
      item('todo_list', { items: [{ text: 'look', completed: true }] }),
      DONE,
    ])
    expect(events.slice(2, -2)).toMatchObject([
      { type: 'logEntry', event: { type: 'session.updated', nativeSessionId: 'sess_abc123xyz' } },
      { type: 'noticeRaised', level: 'warning', message: 'the sandbox is off' },
      { type: 'reasoningChunk', content: 'Look first.', isComplete: true },
      { type: 'planUpdated', items: [{ text: 'look', status: 'completed' }] },
      { type: 'logEntry', event: { type: 'usage.reported', scope: 'turn', input: 1, output: 1 } },
    ])
  })

  it('a retry of Gemini CLI, and a line that no rule covers, have events', async () => {
    const news = { type: 'news', value: 'x' }
    const lines = [{ type: 'retry', attempt: 1 }, news, { type: 'result', status: 'success' }]
    const events = await adapt(new GeminiAdapter(), lines)
    expect(events.slice(2, -2)).toMatchObject([
      { type: 'logEntry', event: { type: 'limit.reported', attempt: 1 } },
      { type: 'logEntry', event: { type: 'native.unmapped', frame: JSON.stringify(news) } },
    ])
  })

  it.each([
    ['codex', new CodexAdapter(), [THREAD, DONE], 'sess_abc123xyz'],
    ['a board', new BoardAdapter(), [{ type: 'log', sessionId: 's-1', payload: { line: 'x' } }], 's-1'],
    ['gemini', new GeminiAdapter(), ['{"type":"init","session_id":"g-1"}'], 'g-1'],
    ['claude', new ClaudeAdapter(), ['{"type":"system","subtype":"init","session_id":"c-1"}'], 'c-1'],
  ])('every event has the session of %s', async (_, adapter, lines, id) => {
    const events = await adapt(adapter, lines)
    expect(events.map(({ sessionId }) => sessionId)).toEqual(events.map(() => id))
    expect(events[0]).toMatchObject({ type: 'sessionStarted', nativeSessionId: id })
  })

  it('another session id that was asked for leaves the own one in sessionStarted', async () => {
    const events = await adapt(new CodexAdapter({ sessionId: 'mine' }), [THREAD, DONE])
    expect(events[0]).toMatchObject({ sessionId: 'mine', nativeSessionId: 'sess_abc123xyz' })
  })

  it('the id may come after lines that are not understood', async () => {
    const events = await adapt(new CodexAdapter(), ['not JSON', '{"type":"news"}', THREAD, DONE])
    expect(new Set(events.map(({ sessionId }) => sessionId))).toEqual(new Set(['sess_abc123xyz']))
  })

  it('timestamps are those of the lines, and durations are measured by them', async () => {
    const at = (second: number) => `2025-12-03T10:00:0${second}.000Z`
    const line = (second: number, type: string, payload: object) => ({ type, payload, timestamp: at(second) })
    const work = [line(1, 'log', { line: 'one' }), line(4, 'log', { line: 'two' })]
    const events = await adapt(new BoardAdapter(), work)
    expect(events.map(({ type, timestamp }) => [type, timestamp])).toEqual([
      ['sessionStarted', at(1)],
      ['turnStarted', at(1)],
      ['textChunk', at(1)],
      ['textChunk', at(4)],
      ['turnCompleted', at(4)],
      ['sessionEnded', at(4)],
    ])
    expect(events.at(-2)).toMatchObject({ durationMs: 3000 })
  })

  it('a line of the past among lines without a time does not become a duration', async () => {
    const result = { type: 'result', status: 'success', timestamp: '2025-12-03T10:30:00Z' }
    const adapter = new GeminiAdapter({ now: () => 5_000 })
    const events = await adapt(adapter, [{ type: 'content', value: 'x' }, result])
    expect(events.at(-1)).toMatchObject({ timestamp: '2025-12-03T10:30:00.000Z' })
    expect(events.at(-2)).toMatchObject({ type: 'turnCompleted', durationMs: 0 })
  })

  it('an error before the end is the reason for it', async () => {
    const events = await adapt(new CodexAdapter(), [THREAD, '{"type":"error","message":"no such model"}'])
    expect(events.at(-1)).toMatchObject({ type: 'sessionEnded', reason: 'failed', error: 'no such model' })
  })
})

describe('the lines of the document', () => {
  it('4.4: the sentence of an agent message is there once', async () => {
    const item = (type: string, more: object = {}) => ({ type, item_type: 'agent_message', ...more })
    const events = await adapt(new CodexAdapter(), [
      item('item.started'),
      item('item.updated', { content: "I'll help you refactor..." }),
      item('item.updated', { content: "I'll help you refactor the auth module..." }),
      item('item.completed', { status: 'success' }),
    ])
    expect(words(events)).toBe("I'll help you refactor the auth module...")
  })

  it('5.3: a tool call succeeds unless the lines after it fail', async () => {
    const lines = [
      '{"type":"content","value":"Analyzing the codebase structure..."}',
      '{"type":"tool_call","name":"write_file","args":{"file_path":"./src/auth.ts","content":"x"}}',
      '{"type":"result","status":"success","stats":{"total_tokens":350,"input_tokens":100,"output_tokens":250}}',
    ]
    const events = await adapt(new GeminiAdapter(), lines)
    expect(events.find(({ type }) => type === 'toolCompleted')).toMatchObject({ success: true })
    expect(events.at(-1)).toMatchObject({ reason: 'completed' })
  })

  const SECTION_3 = [
    { type: 'plan', payload: { message: 'Planning edits for: Refactor authentication' } },
    { type: 'log', payload: { line: 'Reading file: src/auth.ts' } },
    { type: 'action', payload: { tool: 'Edit', args: { file_path: '/src/auth.ts' } } },
    { type: 'toolResult', payload: { tool: 'Edit', success: true, output: 'File updated successfully' } },
    { type: 'diff', payload: { file: 'src/auth.ts', diff: '@@ -10,5 +10,8 @@\n-old line\n+new line' } },
  ]
  const TYPES = ['textChunk', 'textChunk', 'toolStarted', 'toolCompleted', 'fileChanged']

  it.each([
    ['objects', SECTION_3],
    ['lines', ['', ...SECTION_3.map((event) => JSON.stringify(event))]],
  ])('3.4: ClaudeAdapter reads them as %s', async (_, lines) => {
    const events = await adapt(new ClaudeAdapter(), lines)
    expect(events[0]).toMatchObject({ type: 'sessionStarted', agentType: 'claude' })
    expect(events.slice(2, 7).map(({ type }) => type)).toEqual(TYPES)
    expect(events.at(-1)).toMatchObject({ type: 'sessionEnded', reason: 'completed' })
  })

  it('3.4: an error ends the session as failed', async () => {
    const error = { type: 'error', payload: { message: 'Session failed: Permission denied' } }
    const events = await adapt(new ClaudeAdapter(), [...SECTION_3, error])
    expect(events.at(-1)).toMatchObject({ reason: 'failed', error: error.payload.message })
  })

  it('a board is not an agent: the agent is the one of the client, or the one that is given', async () => {
    const lines = SECTION_3.map((event) => JSON.stringify(event))
    const agentOf = async (adapter: BoardAdapter) => {
      const client = new AgentClient({ agentType: 'codex', transport: new MockTransport(lines), adapter })
      const session = await client.createSession({ prompt: 'go' })
      return (await collect(session.events))[0]
    }
    expect(await agentOf(new BoardAdapter())).toMatchObject({ agentType: 'codex' })
    expect(await agentOf(new BoardAdapter({ agentType: 'gemini' }))).toMatchObject({ agentType: 'gemini' })
    expect((await adapt(new BoardAdapter(), lines))[0]).toMatchObject({ agentType: 'claude' })
  })
})
