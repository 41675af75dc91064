import { describe, expect, test } from 'vitest'
import type { Said } from '../../src/agents/agent.ts'
import { inTurn, item, notification, opened, turnCompleted, wire } from './codex-wire.ts'

/** Everything that frames of `codex exec` say, and what the exit adds. */
function exec(frames: readonly object[], setup: Parameters<typeof wire>[1] = {}): Said[] {
  const codec = wire('oneshot', setup)
  return [...frames.flatMap((frame) => [...codec.hear(frame).said]), ...codec.end()]
}

const verdictOf = (said: readonly Said[]) => said.find((one) => one.type === 'turn.verdict')

const native = (input: number, output: number) => ({
  type: 'turn.completed',
  usage: { input_tokens: input, output_tokens: output, cached_input_tokens: 10 },
})
const thread = { type: 'thread.started', thread_id: 'thread-1' }

describe('usage of codex exec', () => {
  const spent = { input: 90, output: 50, cacheRead: 10, total: 150 }

  test('what earlier turns of the session used is taken off the total of the thread', () => {
    const said = exec([thread, native(200, 70)], { epoch: 2, resume: 'thread-1', spent })
    expect(verdictOf(said)).toMatchObject({ usage: { input: 100, output: 20, cacheRead: 0, total: 120 } })
  })

  test('a thread that others began has an unknown past, so its usage is unknown', () => {
    const said = exec([thread, native(200, 70)], { resume: 'thread-1', spent: {} })
    expect(verdictOf(said)).not.toHaveProperty('usage')
    expect(said.some(({ type }) => type === 'usage.reported')).toBe(false)
  })

  test('the thread is announced once in a session', () => {
    expect(exec([thread], { epoch: 2, resume: 'thread-1' })).not.toContainEqual(
      expect.objectContaining({ type: 'session.updated' }),
    )
    expect(exec([thread], { resume: 'thread-1' })[0]).toEqual({
      type: 'session.updated',
      nativeSessionId: 'thread-1',
    })
  })
})

test('an answer in a form is also given as what it stands for', () => {
  const answer = { type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text: '{"age":36}' } }
  const asked = { options: { outputSchema: { type: 'object' } } }
  expect(verdictOf(exec([thread, answer, native(1, 1)], asked))).toMatchObject({ structured: { age: 36 } })
  expect(verdictOf(exec([thread, answer, native(1, 1)]))).not.toHaveProperty('structured')
})

describe('the documented shapes of codex exec', () => {
  test('an object with a text and no known type is a whole turn', () => {
    const said = exec([{ text: 'All done.', usage: { input_tokens: 3, output_tokens: 4 } }])
    expect(said[0]).toEqual({ type: 'text.completed', messageId: 'e1.f1', text: 'All done.' })
    expect(verdictOf(said)).toMatchObject({ evidence: 'success', result: 'All done.', usage: { total: 7 } })
  })

  test('beside the real protocol it is unknown and decides nothing', () => {
    const codec = wire('oneshot')
    codec.hear(thread)
    expect(codec.hear({ type: 'footnote', text: 'x' }).verdict).toBe('unmapped')
    expect(verdictOf(codec.end())).toMatchObject({ evidence: 'none' })
  })

  test('a message comes as its text so far', () => {
    const at = (phase: string, more: object = {}) => ({
      type: `item.${phase}`,
      item_type: 'agent_message',
      ...more,
    })
    const said = exec([
      at('started'),
      at('updated', { content: 'I will' }),
      at('updated', { content: 'I will help' }),
      at('completed', { status: 'success' }),
      native(1, 1),
    ])
    expect(said.slice(0, 3)).toEqual([
      { type: 'text.delta', messageId: 'e1.f1', text: 'I will' },
      { type: 'text.delta', messageId: 'e1.f1', text: ' help' },
      { type: 'text.completed', messageId: 'e1.f1', text: 'I will help' },
    ])
    expect(verdictOf(said)).toMatchObject({ result: 'I will help' })
    expect(exec([at('started'), at('completed', { status: 'success' })])[0]).toEqual({
      type: 'text.completed',
      messageId: 'e1.f1',
      text: '',
    })
  })

  test('a command starts when its line is known and tells its output as it grows', () => {
    const at = (phase: string, more: object = {}) => ({
      type: `item.${phase}`,
      item_type: 'command_execution',
      ...more,
    })
    const line = { command_line: 'npm test' }
    const said = exec([
      at('started'),
      at('updated', { ...line, aggregated_output: '' }),
      at('updated', { ...line, aggregated_output: 'one\n' }),
      at('updated', { ...line, aggregated_output: 'one\ntwo\n' }),
      at('completed', { status: 'failed', exit_code: 2 }),
    ])
    expect(said.slice(0, 4)).toMatchObject([
      { type: 'tool.started', toolId: 'e1.f1', kind: 'execute', input: { command: 'npm test' } },
      { type: 'tool.progressed', output: 'one\n' },
      { type: 'tool.progressed', output: 'two\n' },
      { type: 'tool.completed', status: 'error', exitCode: 2, output: 'one\ntwo\n' },
    ])
  })

  test('a change tells the whole file before and after', () => {
    const changes = [
      { path: 'a.ts', before: '1', after: '2' },
      { path: 'b.ts', after: 'new' },
      { path: 'c.ts', before: 'old' },
    ]
    const said = exec([
      { type: 'item.updated', item_type: 'file_change', changes },
      { type: 'item.completed', item_type: 'file_change', status: 'success' },
    ])
    expect(said.filter(({ type }) => type === 'file.changed')).toMatchObject([
      { path: 'a.ts', change: 'modified', before: '1', after: '2' },
      { path: 'b.ts', change: 'created', after: 'new' },
      { path: 'c.ts', change: 'deleted', before: 'old' },
    ])
  })

  test('an MCP call is known by its tool', () => {
    const call = { item_type: 'mcp_tool_call', tool_name: 'query', tool_input: { sql: 'SELECT 1' } }
    const said = exec([
      { type: 'item.updated', ...call, tool_result: '' },
      { type: 'item.completed', ...call, tool_result: '[1]', status: 'success' },
    ])
    expect(said.slice(0, 2)).toMatchObject([
      { type: 'tool.started', name: 'query', kind: 'mcp', input: { sql: 'SELECT 1' } },
      { type: 'tool.completed', status: 'success', output: '[1]' },
    ])
  })

  test('an item of an unknown kind is kept whole', () => {
    const codec = wire('oneshot')
    expect(codec.hear({ type: 'item.started', item_type: 'dance' }).verdict).toBe('unmapped')
    expect(codec.hear({ type: 'item.started', item: { id: 'x', type: 'dance' } }).verdict).toBe('unmapped')
  })
})

test('an MCP call that nobody may approve is denied by policy', () => {
  const call = { id: 'item_0', type: 'mcp_tool_call', server: 'demo', tool: 'echo', arguments: {} }
  const error = { message: 'MCP tool call requires approval, but approval policy is never' }
  const said = exec([{ type: 'item.completed', item: { ...call, status: 'failed', error } }, native(1, 1)])
  expect(said[1]).toMatchObject({ type: 'tool.completed', status: 'denied', deniedBy: 'policy' })
  expect(verdictOf(said)).toMatchObject({ denials: 1, personDenials: 0 })
})

describe('what the app-server says seldom', () => {
  test('a moved file keeps its diff clean of its new name, and a deleted one tells what it was', () => {
    const changes = [
      { path: 'a', kind: { type: 'update', move_path: 'b' }, diff: '@@ -1 +1 @@\n-x\n+y\n\n\nMoved to: b' },
      { path: 'c', kind: { type: 'delete' }, diff: 'gone\n' },
    ]
    const end = { type: 'fileChange', id: 'call-1', changes, status: 'completed' }
    const { said } = inTurn().hear(item('completed', end))
    expect(said.slice(1, 3)).toMatchObject([
      { change: 'renamed', path: 'b', from: 'a', diff: '@@ -1 +1 @@\n-x\n+y\n' },
      { change: 'deleted', path: 'c', before: 'gone\n' },
    ])
  })

  test('a total that is repeated after an interrupt counts no call twice', () => {
    const codec = inTurn()
    const last = { totalTokens: 15, inputTokens: 10, outputTokens: 5 }
    const report = notification('thread/tokenUsage/updated', { tokenUsage: { total: last, last } })
    expect(codec.hear(report).said).toHaveLength(1)
    expect(codec.hear(report).said).toEqual([])
    expect(codec.hear(turnCompleted('interrupted')).said).toMatchObject([
      { type: 'usage.reported', scope: 'turn', total: 15, source: 'computed' },
      { type: 'turn.verdict', evidence: 'aborted' },
    ])
  })

  test('frames that come late for a turn say nothing', () => {
    const codec = inTurn()
    codec.hear(turnCompleted())
    expect(codec.hear(notification('item/agentMessage/delta', { itemId: 'm', delta: 'x' })).said).toEqual([])
    expect(codec.hear(item('completed', { type: 'agentMessage', id: 'm', text: 'x' })).said).toEqual([])
    expect(codec.hear(turnCompleted()).said).toEqual([])
  })

  test('a turn that nobody asked for is the agent’s own', () => {
    const { said } = opened().hear(notification('turn/started', { turn: { id: 'turn-9' } }))
    expect(said).toEqual([{ type: 'turn.started', origin: 'agent' }])
  })

  test('the frames of an unannounced thread have a sub-agent as their author', () => {
    const codec = inTurn()
    const child = { threadId: 'thread-2', turnId: 'turn-2' }
    const { said } = codec.hear(item('completed', { type: 'agentMessage', id: 'm', text: 'hi' }, child))
    expect(said).toMatchObject([
      { type: 'subagent.started', id: 'thread-2' },
      { type: 'text.completed', parent: 'thread-2' },
    ])
    codec.hear(item('started', { type: 'commandExecution', id: 'call-1', command: 'ls' }, child))
    const end = { ...child, turn: { id: 'turn-2', status: 'failed', durationMs: 5 } }
    expect(codec.hear(notification('turn/completed', end)).said).toMatchObject([
      { type: 'tool.completed', status: 'error', settled: true, parent: 'thread-2' },
      { type: 'subagent.completed', status: 'error', summary: 'hi', durationMs: 5 },
    ])
  })

  test('a sub-agent that outlives its turn ends with the process', () => {
    const codec = inTurn()
    const activity = { type: 'subAgentActivity', id: 'a', kind: 'started', agentThreadId: 'thread-2' }
    codec.hear(item('started', activity))
    codec.hear(turnCompleted())
    expect(codec.end()).toMatchObject([{ type: 'subagent.completed', id: 'thread-2', status: 'cancelled' }])
  })

  test('parts of a summary are parted by an empty line, and raw thoughts are a message of their own', () => {
    const codec = inTurn()
    const delta = (text: string) =>
      notification('item/reasoning/summaryTextDelta', { itemId: 'r', delta: text })
    const part = notification('item/reasoning/summaryPartAdded', { itemId: 'r' })
    const raw = notification('item/reasoning/textDelta', { itemId: 'r', delta: 'raw' })
    const said = [part, delta('one'), part, delta('two'), raw].flatMap((frame) => [...codec.hear(frame).said])
    const whole = { type: 'reasoning', id: 'r', summary: ['one', 'two'], content: ['raw'] }
    expect([...said, ...codec.hear(item('completed', whole)).said]).toMatchObject([
      { type: 'thinking.delta', messageId: 'r', text: 'one' },
      { type: 'thinking.delta', messageId: 'r', text: '\n\n' },
      { type: 'thinking.delta', messageId: 'r', text: 'two' },
      { type: 'thinking.delta', messageId: 'r:content', text: 'raw' },
      { type: 'thinking.completed', messageId: 'r', text: 'one\n\ntwo' },
      { type: 'thinking.completed', messageId: 'r:content', text: 'raw' },
    ])
  })

  test('a steering prompt between two messages is folded in', () => {
    const steer = { type: 'userMessage', id: 'u2', content: [{ type: 'text', text: 'and this' }] }
    expect(inTurn().hear(item('started', steer)).said).toEqual([
      { type: 'turn.steered', prompt: 'and this', effect: 'folded' },
    ])
  })

  test('limits are told when they change', () => {
    const codec = opened()
    const limits = (usedPercent: number) =>
      notification('account/rateLimits/updated', {
        rateLimits: { primary: { usedPercent, resetsAt: 9 }, secondary: null },
      })
    expect(codec.hear(limits(10)).said).toMatchObject([{ kind: 'rate', usedPercent: 10, resetsAt: 9 }])
    expect(codec.hear(limits(10)).said).toEqual([])
    expect(codec.hear(limits(11)).said).toHaveLength(1)
  })

  test('hooks, names, compactions and broken MCP servers are told', () => {
    const codec = inTurn()
    const run = { id: 'h1', eventName: 'preToolUse', status: 'blocked', entries: [{ kind: 'x', text: 'no' }] }
    const status = { name: 'demo', status: 'failed', error: 'gone' }
    const progress = { itemId: 'call-1', message: 'half way' }
    codec.hear(item('started', { type: 'mcpToolCall', id: 'call-1', server: 'demo', tool: 'echo' }))
    const said = [
      notification('hook/started', { run }),
      notification('hook/completed', { run }),
      notification('thread/name/updated', { threadName: 'A name' }),
      item('completed', { type: 'contextCompaction', id: 'x' }),
      notification('mcpServer/startupStatus/updated', status),
      notification('item/mcpToolCall/progress', progress),
    ].flatMap((frame) => [...codec.hear(frame).said])
    expect(said).toMatchObject([
      { type: 'hook.started', hookId: 'h1', event: 'preToolUse' },
      { type: 'hook.completed', status: 'blocked', output: 'no' },
      { type: 'session.updated', title: 'A name' },
      { type: 'context.compacted' },
      { type: 'notice.raised', message: 'the MCP server demo did not start: gone' },
      { type: 'tool.progressed', toolId: 'call-1', message: 'half way' },
    ])
  })

  test('a refusal by the provider is the model’s and not a failure', () => {
    const error = { message: 'declined', codexErrorInfo: 'cyberPolicy' }
    expect(inTurn().hear(turnCompleted('failed', { error })).said).toMatchObject([{ evidence: 'refusal' }])
  })

  test('a call that Codex refused by itself denies the open turn, and only that', () => {
    const line =
      '\u001b[2mcodex_core::tools::router\u001b[0m: \u001b[3merror\u001b[0m=approval policy is Never; reject command'
    const codec = inTurn()
    expect(codec.stderr(line).said.at(-1)).toMatchObject({ code: 'tool_refused' })
    expect(codec.hear(turnCompleted()).said).toMatchObject([{ denials: 1, personDenials: 0 }])
    codec.stderr(line)
    codec.command({ type: 'prompt', text: 'go' })
    const next = notification('turn/completed', { turn: { id: 'turn-2', status: 'completed' } })
    expect(codec.hear(next).said).toMatchObject([{ denials: 0 }])
  })

  test('a call that failed for want of file permissions was refused by nobody', () => {
    const error = 'apply_patch verification failed: Permission denied (os error 13)'
    const codec = inTurn()
    expect(codec.stderr(`ERROR codex_core::tools::router: error=${error}`).said.at(-1)).toMatchObject({
      code: 'agent_warning',
      message: error,
    })
    expect(codec.hear(turnCompleted()).said).toMatchObject([{ denials: 0 }])
  })

  test('the rejection of a person is not counted a second time from stderr', () => {
    const codec = inTurn()
    const line = 'ERROR codex_core::tools::router: error=patch rejected by user'
    expect(codec.stderr(line).said).toEqual([{ type: 'output.written', stream: 'stderr', line }])
  })
})
