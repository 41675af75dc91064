import { describe, expect, test } from 'vitest'
import type { Emitted } from '../../../src/agents/agent.ts'
import { inTurn, item, wire } from './codex-wire.ts'

/** Everything that frames of `codex exec` say, and what the exit adds. */
function exec(frames: readonly object[], setup: Parameters<typeof wire>[1] = {}): Emitted[] {
  const codec = wire('oneshot', setup)
  return [...frames.flatMap((frame) => [...codec.hear(frame).emitted]), ...codec.end()]
}

const verdictOf = (emitted: readonly Emitted[]) => emitted.find((one) => one.type === 'turn.verdict')

const native = (input: number, output: number) => ({
  type: 'turn.completed',
  usage: { input_tokens: input, output_tokens: output, cached_input_tokens: 10 },
})
const thread = { type: 'thread.started', thread_id: 'thread-1' }

const changed = (changes: readonly object[]) => ({
  type: 'item.completed',
  item: { id: 'item_0', type: 'file_change', changes, status: 'completed' },
})

describe('usage of codex exec', () => {
  const usageSoFar = { input: 90, output: 50, cacheRead: 10, total: 150 }

  test('the usage of earlier turns is subtracted from the total of the thread', () => {
    const emitted = exec([thread, native(200, 70)], { epoch: 2, resume: 'thread-1', usageSoFar })
    expect(verdictOf(emitted)).toMatchObject({ usage: { input: 100, output: 20, cacheRead: 0, total: 120 } })
  })

  test('a foreign thread has unknown earlier usage, so its usage is unknown', () => {
    const emitted = exec([thread, native(200, 70)], { resume: 'thread-1', usageSoFar: {} })
    expect(verdictOf(emitted)).not.toHaveProperty('usage')
    expect(emitted.some(({ type }) => type === 'usage.reported')).toBe(false)
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

const half = 'x'.repeat(524_288)

test.each([
  ['of which the middle is missing', `${half}\n... 4194304 bytes omitted ...\n${half}`, true],
  ['of one mebibyte', half + half, undefined],
  ['that only mentions omitted bytes', '1\n... 2 bytes omitted ...\n3', undefined],
])('an output %s is marked as truncated: %#', (_name, aggregated_output, truncated) => {
  const item = { id: 'item_0', type: 'command_execution', command: 'seq 9', status: 'completed' }
  const [, ended] = exec([{ type: 'item.completed', item: { ...item, aggregated_output, exit_code: 0 } }])
  expect(ended).toMatchObject({ type: 'tool.completed', status: 'success' })
  expect(ended).toHaveProperty('output', aggregated_output)
  expect(ended && 'truncated' in ended ? ended.truncated : undefined).toBe(truncated)
})

test('the input of a failed MCP call is reported once, and its end is accounted for', () => {
  const item = {
    id: 'item_0',
    type: 'mcp_tool_call',
    server: 'demo',
    tool: 'echo',
    arguments: { text: 'hello' },
  }
  const error = { message: 'Transport closed' }
  const emitted = exec([
    { type: 'item.started', item: { ...item, status: 'in_progress' } },
    { type: 'item.completed', item: { ...item, status: 'failed', result: null, error } },
  ])
  expect(emitted.map(({ type }) => type)).toEqual(['tool.started', 'tool.completed', 'turn.verdict'])
})

test.each([
  ['Connection failed: tcp connect error', 'connection_failed'],
  ['Error while reading the server response: error decoding response body', 'connection_failed'],
  ['request timed out', 'connection_failed'],
  ['Selected model is at capacity. Please try a different model.', 'connection_failed'],
  ['rate limit exceeded: Rate limit reached for gpt-5.5', 'rate_limited'],
  ["Codex ran out of room in the model's context window.", 'invalid_request'],
  ['Your access token could not be refreshed. Please log out and sign in again.', 'authentication_failed'],
  ['unexpected status 503 Service Unavailable: x', 'connection_failed'],
])('the failure "%s" is %s', (message, code) => {
  const emitted = exec([thread, { type: 'turn.failed', error: { message } }])
  expect(verdictOf(emitted)).toMatchObject({ evidence: 'error', error: { code, message } })
})

describe('an error of codex exec without a result', () => {
  const error = { type: 'error', message: 'unexpected status 401 Unauthorized' }

  test('is the reason for the end', () => {
    expect(verdictOf(exec([thread, error]))).toMatchObject({
      evidence: 'error',
      error: { code: 'authentication_failed', message: error.message },
    })
  })

  test('is ignored when work continued after it', () => {
    const search = { type: 'item.started', item: { id: 'item_1', type: 'reasoning', text: '' } }
    expect(verdictOf(exec([thread, error, search]))).toMatchObject({ evidence: 'none' })
  })
})

test.each(['oneshot', 'live'] as const)(
  'rejected arguments are recognised by the exit code: %s',
  (launch) => {
    const codec = wire(launch)
    codec.command({ type: 'prompt', text: 'go' })
    const stderr = "error: a value is required for '--model <MODEL>' but none was supplied"
    expect(codec.end({ code: 2, cause: 'exit', stderr })).toMatchObject([
      { type: 'turn.verdict', error: { code: 'unsupported_option' } },
    ])
  },
)

test('a structured answer is also emitted as parsed JSON', () => {
  const answer = { type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text: '{"age":36}' } }
  const asked = { options: { outputSchema: { type: 'object' } } }
  expect(verdictOf(exec([thread, answer, native(1, 1)], asked))).toMatchObject({ structured: { age: 36 } })
  expect(verdictOf(exec([thread, answer, native(1, 1)]))).not.toHaveProperty('structured')
})

describe('the documented shapes of codex exec', () => {
  test('an object with a text and no known type is a whole turn', () => {
    const emitted = exec([{ text: 'All done.', usage: { input_tokens: 3, output_tokens: 4 } }])
    expect(emitted[0]).toEqual({ type: 'text.completed', messageId: 'e1.f1', text: 'All done.' })
    expect(verdictOf(emitted)).toMatchObject({
      evidence: 'success',
      result: 'All done.',
      usage: { total: 7 },
    })
  })

  test.each([{ text: 'All done.' }, { type: 'result', text: 'All done.' }])(
    'it is the answer after an announced thread too: %o',
    (result) => {
      const emitted = exec([thread, result])
      expect(emitted).toContainEqual({ type: 'text.completed', messageId: 'e1.f1', text: 'All done.' })
      expect(verdictOf(emitted)).toMatchObject({ evidence: 'success', result: 'All done.' })
    },
  )

  test('a text of another type beside the real protocol is unknown and decides nothing', () => {
    const codec = wire('oneshot')
    codec.hear(thread)
    expect(codec.hear({ type: 'footnote', text: 'x' }).verdict).toBe('unmapped')
    expect(verdictOf(codec.end())).toMatchObject({ evidence: 'none' })
  })

  test('a message arrives as its text so far', () => {
    const at = (phase: string, more: object = {}) => ({
      type: `item.${phase}`,
      item_type: 'agent_message',
      ...more,
    })
    const emitted = exec([
      at('started'),
      at('updated', { content: 'I will' }),
      at('updated', { content: 'I will help' }),
      at('completed', { status: 'success' }),
      native(1, 1),
    ])
    expect(emitted.slice(0, 3)).toEqual([
      { type: 'text.delta', messageId: 'e1.f1', text: 'I will' },
      { type: 'text.delta', messageId: 'e1.f1', text: ' help' },
      { type: 'text.completed', messageId: 'e1.f1', text: 'I will help' },
    ])
    expect(verdictOf(emitted)).toMatchObject({ result: 'I will help' })
    expect(exec([at('started'), at('completed', { status: 'success' })])[0]).toEqual({
      type: 'text.completed',
      messageId: 'e1.f1',
      text: '',
    })
  })

  test('dots at the end of an update are replaced by the text of the next', () => {
    const at = (phase: string, more: object = {}) => ({
      type: `item.${phase}`,
      item_type: 'agent_message',
      ...more,
    })
    const emitted = exec([
      at('started'),
      at('updated', { content: "I'll help you refactor..." }),
      at('updated', { content: "I'll help you refactor the auth module..." }),
      at('completed', { status: 'success' }),
    ])
    expect(emitted.slice(0, 3)).toEqual([
      { type: 'text.delta', messageId: 'e1.f1', text: "I'll help you refactor" },
      { type: 'text.delta', messageId: 'e1.f1', text: ' the auth module' },
      { type: 'text.completed', messageId: 'e1.f1', text: "I'll help you refactor the auth module..." },
    ])
  })

  test('an update that changes emitted text waits for the complete text', () => {
    const at = (content: string) => ({ type: 'item.updated', item_type: 'agent_message', content })
    expect(exec([at('Hello'), at('Hullo'), at('Hullo you')])[1]).toMatchObject({ type: 'text.completed' })
  })

  test('a command starts when its line is known and emits its output as it grows', () => {
    const at = (phase: string, more: object = {}) => ({
      type: `item.${phase}`,
      item_type: 'command_execution',
      ...more,
    })
    const line = { command_line: 'npm test' }
    const emitted = exec([
      at('started'),
      at('updated', { ...line, aggregated_output: '' }),
      at('updated', { ...line, aggregated_output: 'one\n' }),
      at('updated', { ...line, aggregated_output: 'one\ntwo\n' }),
      at('completed', { status: 'failed', exit_code: 2 }),
    ])
    expect(emitted.slice(0, 4)).toMatchObject([
      { type: 'tool.started', toolId: 'e1.f1', kind: 'execute', input: { command: 'npm test' } },
      { type: 'tool.progressed', output: 'one\n' },
      { type: 'tool.progressed', output: 'two\n' },
      { type: 'tool.completed', status: 'error', exitCode: 2, output: 'one\ntwo\n' },
    ])
  })

  test('a change contains the whole file before and after', () => {
    const changes = [
      { path: 'a.ts', before: '1', after: '2' },
      { path: 'b.ts', after: 'new' },
      { path: 'c.ts', before: 'old' },
      { path: 'd.ts' },
    ]
    const emitted = exec([
      { type: 'item.updated', item_type: 'file_change', changes },
      { type: 'item.completed', item_type: 'file_change', status: 'success' },
    ])
    expect(emitted.filter(({ type }) => type === 'file.changed')).toMatchObject([
      { path: 'a.ts', change: 'modified', before: '1', after: '2' },
      { path: 'b.ts', change: 'created', after: 'new' },
      { path: 'c.ts', change: 'deleted', before: 'old' },
      { path: 'd.ts', change: 'modified', changeReported: false },
    ])
  })

  test('a removed file is a deletion, in the formats of Codex and of the documents', () => {
    const [real] = exec([changed([{ path: 'a', kind: 'delete' }])])
    expect(real).toMatchObject({ type: 'tool.started', kind: 'delete', locations: [{ path: 'a' }] })
    const change = { item_type: 'file_change', changes: [{ path: 'a', before: 'x' }] }
    expect(exec([{ type: 'item.completed', ...change }])[0]).toMatchObject({ kind: 'delete' })
    expect(exec([changed([{ path: 'a', kind: 'add' }])])[0]).toMatchObject({ kind: 'edit' })
  })

  test('an MCP call is known by its tool', () => {
    const call = { item_type: 'mcp_tool_call', tool_name: 'query', tool_input: { sql: 'SELECT 1' } }
    const emitted = exec([
      { type: 'item.updated', ...call, tool_result: '' },
      { type: 'item.completed', ...call, tool_result: '[1]', status: 'success' },
    ])
    expect(emitted.slice(0, 2)).toMatchObject([
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

describe('a search query may be reported only at the end', () => {
  const action = { type: 'search', query: 'weather', queries: ['weather', 'weather today'] }
  const full = { query: 'weather', action: 'search', queries: ['weather', 'weather today'] }

  test('codex exec', () => {
    const search = { id: 'ws_1', type: 'web_search', query: '', action: { type: 'other' } }
    const emitted = exec([
      { type: 'item.started', item: search },
      { type: 'item.completed', item: { ...search, query: 'weather', action } },
    ])
    expect(emitted.slice(0, 3)).toEqual([
      {
        type: 'tool.started',
        toolId: 'e1.ws_1',
        name: 'web_search',
        kind: 'search',
        input: { action: 'other' },
      },
      { type: 'tool.updated', toolId: 'e1.ws_1', title: 'weather', input: full },
      { type: 'tool.completed', toolId: 'e1.ws_1', name: 'web_search', kind: 'search', status: 'success' },
    ])
  })

  test('the app-server, and an end without news adds nothing', () => {
    const codec = inTurn()
    const search = { id: 'ws_1', type: 'webSearch', query: '', action: null, results: null }
    const [started] = codec.hear(item('started', search)).emitted
    expect(started).not.toHaveProperty('title')
    const { emitted } = codec.hear(item('completed', { ...search, query: 'weather', action }))
    expect(emitted).toMatchObject([
      { type: 'tool.updated', title: 'weather', input: full },
      { type: 'tool.completed' },
    ])
    const known = { ...search, id: 'ws_2', query: 'weather', action }
    codec.hear(item('started', known))
    expect(codec.hear(item('completed', known)).emitted).toMatchObject([{ type: 'tool.completed' }])
    codec.hear(item('started', { ...known, id: 'ws_3' }))
    const end = codec.hear(item('completed', { ...search, id: 'ws_3' }))
    expect(end.emitted).toMatchObject([{ type: 'tool.completed' }])
  })
})

test.each(['MCP tool call requires approval, but approval policy is never', 'user cancelled MCP tool call'])(
  'an MCP call that cannot be approved is denied by policy: %s',
  (message) => {
    const call = { id: 'item_0', type: 'mcp_tool_call', server: 'demo', tool: 'echo', arguments: {} }
    const error = { message }
    const emitted = exec([
      { type: 'item.completed', item: { ...call, status: 'failed', error } },
      native(1, 1),
    ])
    expect(emitted[1]).toMatchObject({ type: 'tool.completed', status: 'denied', deniedBy: 'policy' })
    expect(verdictOf(emitted)).toMatchObject({ denials: 1, personDenials: 0 })
  },
)
