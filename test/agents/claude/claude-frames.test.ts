import { expect, test } from 'vitest'
import { Native } from '../native/claude.ts'
import { eventsIn } from './claude-recordings.ts'
import {
  asks,
  assistant,
  call,
  half,
  halfText,
  init,
  openTalk,
  result,
  returned,
  stream,
  system,
  Talk,
} from './claude-talk.ts'

const stop = (more = {}) => stream({ type: 'message_stop' }, more)

test('a compacted context is reported with its sizes', () => {
  const compact_metadata = { trigger: 'auto', pre_tokens: 180_000, post_tokens: 20_000 }
  const frame = system('compact_boundary', { compact_metadata })
  expect(Native.safeParse(frame).success).toBe(true)
  expect(openTalk().hear(frame)).toEqual([
    { type: 'context.compacted', trigger: 'auto', before: 180_000, after: 20_000 },
  ])
})

test('a conversation that starts over is reported with its new session', () => {
  const events = eventsIn('bidi_slash')
  const at = events.findIndex(
    (event) => event.type === 'notice.raised' && event.message === 'the conversation starts over: clear',
  )
  expect(events[at + 1]).toEqual({ type: 'session.updated', nativeSessionId: expect.any(String) })
  expect(openTalk().hear({ type: 'conversation_reset', session_id: 's' })).toMatchObject([
    { type: 'notice.raised', level: 'info', message: 'the conversation starts over' },
  ])
})

test('a prompt that a hook refuses is not answered', () => {
  const talk = openTalk()
  const frame = system('informational', {
    content: 'UserPromptSubmit operation blocked by hook: no',
    level: 'warning',
    prompt_submit_outcome: { kind: 'blocked_by_hook', prompt_kept: false, reason: 'no' },
  })
  expect(Native.safeParse(frame).success).toBe(true)
  expect(talk.hear(frame)).toMatchObject([{ type: 'notice.raised', level: 'warning' }])
  talk.hear(result())
  expect(talk.only('turn.completed')).toMatchObject([{ outcome: 'denied', denials: 1 }])
})

test('a status message of its screen is a notice', () => {
  const frame = system('notification', {
    key: 'stop-hook-error',
    text: 'Stop hook error',
    priority: 'immediate',
  })
  expect(Native.safeParse(frame).success).toBe(true)
  expect(openTalk().hear(frame)).toMatchObject([
    { type: 'notice.raised', level: 'info', message: 'Stop hook error' },
  ])
})

test('an account limit is reported with its name, state and usage', () => {
  const rate_limit_info = {
    status: 'allowed_warning',
    resetsAt: 1_800_000_000,
    rateLimitType: 'five_hour',
    utilization: 0.914,
  }
  const frame = { type: 'rate_limit_event', session_id: 's', rate_limit_info }
  expect(Native.safeParse(frame).success).toBe(true)
  expect(openTalk().hear(frame)).toEqual([
    {
      type: 'limit.reported',
      kind: 'rate',
      message: 'five_hour: allowed_warning',
      resetsAt: 1_800_000_000_000,
      usedPercent: 91,
    },
  ])
  expect(openTalk().hear({ type: 'rate_limit_event' })).toEqual([{ type: 'limit.reported', kind: 'rate' }])
})

test('a reached account limit is full, even without a figure', () => {
  const told = (info: object) => openTalk().hear({ type: 'rate_limit_event', rate_limit_info: info })[0]
  expect(told({ status: 'rejected', rateLimitType: 'five_hour' })).toMatchObject({
    kind: 'quota',
    usedPercent: 100,
  })
  expect(told({ status: 'rejected', utilization: 1.02 })).toMatchObject({ usedPercent: 102 })
  expect(told({ status: 'allowed', isUsingOverage: true })).toMatchObject({ account: 'extra usage' })
  expect(told({ status: 'allowed', rateLimitType: 'five_hour' })).not.toHaveProperty('usedPercent')
})

test('keepalive and repaint frames emit nothing', () => {
  const talk = openTalk()
  const quiet = [
    { type: 'keep_alive' },
    system('ui_invalidate', { event: 'ui.render' }),
    stream({ type: 'ping' }),
    system('thinking_tokens', { estimated_tokens: 5 }),
  ]
  expect(talk.hear(...quiet)).toEqual([])
  expect(talk.conversation.coverage).toMatchObject({ unmapped: 0, malformed: 0 })
})

test.each([
  [{ type: 'something_new', a: 1 }, 'something_new'],
  [{ a: 1 }, '?'],
  [{ type: 'constructor' }, 'constructor'],
  [system('toString'), 'system/toString'],
  [stream({ type: 'something_new' }), 'stream_event/something_new'],
  [assistant('m1', { type: 'something_new' }), 'assistant/something_new'],
  [{ type: 'user', message: { content: [{ type: 'something_new' }] } }, 'user/something_new'],
])('%j is kept whole', (frame, nativeType) => {
  expect(openTalk().hear(frame)).toEqual([
    { type: 'native.unmapped', nativeType, frame: JSON.stringify(frame) },
  ])
})

test('a line that is not JSON is output and not protocol', () => {
  const talk = openTalk()
  talk.conversation.frame({ stream: 'stdout', text: 'Segmentation fault' })
  expect(talk.events.at(-1)).toEqual({ type: 'output.written', stream: 'stdout', line: 'Segmentation fault' })
})

test('a request that no rule knows is rejected immediately, so that the turn continues', () => {
  const talk = openTalk()
  const frame = { type: 'control_request', request_id: 'r9', request: { subtype: 'something_new' } }
  expect(talk.write(frame)).toEqual([
    {
      type: 'control_response',
      response: { subtype: 'error', request_id: 'r9', error: 'unsupported: control_request/something_new' },
    },
  ])
  expect(talk.only('native.unmapped')).toHaveLength(1)
})

test('a hook of another client is allowed', () => {
  const request = { subtype: 'hook_callback', callback_id: 'x', input: {} }
  expect(openTalk().write({ type: 'control_request', request_id: 'r9', request })).toEqual([
    { type: 'control_response', response: { subtype: 'success', request_id: 'r9', response: {} } },
  ])
})

test('all messages in one array are decoded one by one, with any other values between them', () => {
  const talk = new Talk('oneshot')
  talk.conversation.begin(1)
  const list = [init(), call('t1'), { type: 'something_new' }, returned('t1', 'ok'), result()]
  const emitted = talk.hear(list)
  expect(emitted.map(({ type }) => type)).toEqual([
    'session.updated',
    'tool.started',
    'native.unmapped',
    'tool.completed',
  ])
  expect(emitted).toContainEqual({
    type: 'native.unmapped',
    nativeType: 'something_new',
    frame: '{"type":"something_new"}',
  })
  expect(talk.conversation.coverage).toMatchObject({ frames: 1, mapped: 0, unmapped: 1 })
  expect(talk.exit()).toMatchObject([{ outcome: 'completed', result: 'done' }])
})

test('an MCP server that failed to start is reported once, and again when it changes', () => {
  const servers = (status: string) => init({ mcp_servers: [{ name: 'files', status }] })
  const talk = new Talk()
  talk.prompt()
  talk.hear(servers('failed'), servers('failed'), servers('connected'), servers('needs-auth'))
  expect(talk.only('notice.raised').map(({ message }) => message)).toEqual([
    'MCP server files: failed',
    'MCP server files: needs-auth',
  ])
})

test('a whole block ends the pieces of its kind, and late pieces are not repeated', () => {
  const talk = openTalk()
  talk.hear(...half('m1', halfText('Hel')), assistant('m1', { type: 'text', text: 'Hello' }))
  expect(talk.only('text.completed')).toEqual([{ type: 'text.completed', messageId: 'm1:0', text: 'Hello' }])
  const late = stream({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo' } })
  expect(talk.hear(late, stop())).toEqual([])
})

test('output of a sub-agent does not end the message of its parent', () => {
  const talk = openTalk()
  const child = assistant('m2', { type: 'text', text: 'inner' }, { parent_tool_use_id: 't1' })
  talk.hear(...half('m1', halfText('Hel')), child, assistant('m1', { type: 'text', text: 'Hello' }))
  expect(talk.only('text.completed')).toEqual([
    { type: 'text.completed', messageId: 'm2:s0', text: 'inner', parent: 't1' },
    { type: 'text.completed', messageId: 'm1:0', text: 'Hello' },
  ])
})

test('equal texts under two ids are two messages', () => {
  const talk = openTalk()
  const block = { type: 'text', text: 'Hello' }
  talk.hear(assistant('m1', block), assistant('m2', block), assistant('m2', block))
  expect(talk.only('text.completed').map(({ messageId }) => messageId)).toEqual(['m1:s0', 'm2:s0', 'm2:s1'])
})

test('signed thinking without text is not a message', () => {
  expect(openTalk().hear(assistant('m1', { type: 'redacted_thinking', data: 'x' }))).toEqual([])
})

test('blocks that were complete before a stream broke are kept, the rest is discarded, including drafts of calls', () => {
  const talk = openTalk()
  const draft = { type: 'tool_use', id: 't1', name: 'Bash', input: {} }
  const thinking = { type: 'thinking', thinking: '' }
  talk.hear(
    ...half(
      'm1',
      halfText('whole'),
      [thinking, { type: 'thinking_delta', thinking: 'half' }],
      [draft, { type: 'input_json_delta', partial_json: '{"comm' }],
    ),
    assistant('m1', { type: 'text', text: 'whole' }),
  )
  // An older version only stops the message; a newer one says from which block on.
  expect(talk.hear(stop({ abandoned_blocks: { from_block_index: 0 } }))).toEqual([
    { type: 'message.discarded', messageId: 'm1:1', reason: 'stream_broken' },
    { type: 'message.discarded', messageId: 'm1:2', reason: 'stream_broken' },
  ])
  const older = openTalk()
  older.hear(...half('m1', halfText('half')))
  expect(older.hear(stop())).toEqual([
    { type: 'message.discarded', messageId: 'm1:0', reason: 'stream_broken' },
  ])
  expect(older.hear(result())).toMatchObject([{ type: 'turn.completed' }])
})

test('a message that the model was stopped in is dropped as refused', () => {
  const talk = openTalk()
  talk.hear(...half('m1', halfText('I will')))
  const remark = { role: 'user', content: [{ type: 'text', text: 'stopped' }] }
  expect(talk.hear({ type: 'user', message: remark, isSynthetic: true, refused_message_id: 'm1' })).toEqual([
    { type: 'message.discarded', messageId: 'm1:0', reason: 'refused' },
  ])
})

test('an id that returns after its call has ended is another call, refused or not', () => {
  const talk = openTalk()
  talk.hear(call('t1'), returned('t1', 'ok'), call('t1'), asks('r1', 'Bash', {}, { tool_use_id: 't1' }))
  expect(talk.only('request.opened')).toMatchObject([{ toolId: 't1~2' }])
  talk.answer('e1.r1', { decision: 'deny' })
  talk.hear(returned('t1', 'no'))
  expect(talk.only('tool.completed').map(({ toolId, status }) => [toolId, status])).toEqual([
    ['t1', 'success'],
    ['t1~2', 'denied'],
  ])
})

test('a result for an unknown call, or a second one, is kept whole', () => {
  const talk = openTalk()
  talk.hear(call('t1'), returned('t1', 'ok'))
  const kept = talk.hear(returned('t1', 'again'), returned('t9', 'ok'))
  expect(kept).toMatchObject([
    { type: 'native.unmapped', nativeType: 'user/tool_result', frame: expect.stringContaining('again') },
    { type: 'native.unmapped', nativeType: 'user/tool_result', frame: expect.stringContaining('t9') },
  ])
  expect(talk.conversation.coverage).toMatchObject({ unmapped: 2 })
})

test('an image that a call returns is named in its output', () => {
  const talk = openTalk()
  const content = [{ type: 'text', text: 'look' }, { type: 'image' }]
  talk.hear(call('t1'), returned('t1', content))
  expect(talk.only('tool.completed')).toMatchObject([{ output: 'look\n[image]' }])
})

test.each([
  ['Write', { type: 'create', originalFile: null, content: 'a\n', structuredPatch: [] }, 'created', 'a\n'],
  ['Edit', { originalFile: null, oldString: '', newString: 'a', structuredPatch: [] }, 'created', 'a'],
  ['Write', { type: 'update', originalFile: 'a\n', content: 'b\n', structuredPatch: [] }, 'modified', 'b\n'],
  [
    'Edit',
    { originalFile: 'aXbX', oldString: 'X', newString: '', replaceAll: true, structuredPatch: [] },
    'modified',
    'ab',
  ],
  ['Edit', { originalFile: 'aXbX', oldString: 'X', newString: 'Y', structuredPatch: [] }, 'modified', 'aYbX'],
  [
    'Edit',
    { originalFile: null, oldString: 'X', newString: 'Y', structuredPatch: [] },
    'modified',
    undefined,
  ],
  [
    'Edit',
    { originalFile: 'ab', oldString: 'X', newString: 'Y', structuredPatch: [] },
    'modified',
    undefined,
  ],
])('%s with %j is a file that was %s', (tool, done, change, after) => {
  const talk = openTalk()
  talk.hear(call('t1', tool, {}), returned('t1', 'ok', { tool_use_result: { filePath: '/a', ...done } }))
  const [changed] = talk.only('file.changed')
  expect(changed).toMatchObject({ path: '/a', change })
  expect(changed?.after).toBe(after)
})

test('a file tool that failed has changed nothing', () => {
  const talk = openTalk()
  const tool_use_result = { filePath: '/a', structuredPatch: [], content: 'x' }
  const failed = {
    type: 'user',
    tool_use_result,
    message: { content: [{ type: 'tool_result', tool_use_id: 't1', content: 'no', is_error: true }] },
  }
  talk.hear(call('t1', 'Write', {}), failed)
  expect(talk.only('file.changed')).toEqual([])
  expect(talk.only('tool.completed')).toMatchObject([{ status: 'error' }])
})

test('a block that no rule knows does not affect its neighbours', () => {
  const talk = openTalk()
  const content = [
    { type: 'text', text: 'before' },
    { type: 'hologram', data: 1 },
    { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } },
  ]
  const spoken = { type: 'assistant', session_id: 's', message: { id: 'msg_1', role: 'assistant', content } }
  expect(talk.hear(spoken)).toMatchObject([
    { type: 'text.completed', text: 'before' },
    { type: 'tool.started', toolId: 'toolu_1' },
    { type: 'native.unmapped', nativeType: 'assistant/hologram' },
  ])
  const results = [
    { type: 'hologram', data: 2 },
    { type: 'tool_result', tool_use_id: 'toolu_1', content: 'a.txt' },
  ]
  const answered = { type: 'user', session_id: 's', message: { role: 'user', content: results } }
  expect(talk.hear(answered)).toMatchObject([
    { type: 'tool.completed', toolId: 'toolu_1', status: 'success', output: 'a.txt' },
    { type: 'native.unmapped', nativeType: 'user/hologram' },
  ])
})
