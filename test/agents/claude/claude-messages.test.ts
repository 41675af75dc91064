import { expect, test } from 'vitest'
import { Native } from '../native/claude.ts'
import {
  asks,
  assistant,
  call,
  eventsOf,
  half,
  halfText,
  init,
  openTalk,
  result,
  returned,
  used,
} from './claude-talk.ts'

/** What the client says in the place of the model. */
const synthetic = (words: string, more = {}) => ({
  ...assistant('x1', {}),
  message: {
    id: 'x1',
    role: 'assistant',
    model: '<synthetic>',
    content: [{ type: 'text', text: words }],
    stop_reason: 'stop_sequence',
    usage: { ...used(0, 0), cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
  },
  ...more,
})

test.each([{ local_command_source: 'context' }, { local_command_run: { command: 'context', args: '' } }])(
  'the output of a command with %j is text',
  (more) => {
    const talk = openTalk()
    const frame = synthetic('## Context Usage', more)
    expect(Native.safeParse(frame).success).toBe(true)
    expect(talk.hear(frame)).toEqual([
      { type: 'text.completed', messageId: 'x1:s0', text: '## Context Usage' },
    ])
    talk.hear(result({ result: '## Context Usage', local_command: 'context' }))
    expect(talk.only('turn.completed')).toMatchObject([{ outcome: 'completed', result: '## Context Usage' }])
  },
)

test.each([
  {},
  { is_api_error_message: true },
  { is_api_error_message: true, local_command_source: 'context' },
])('a failure with %j is not text', (more) => {
  expect(openTalk().hear(synthetic('API Error', more))).toMatchObject([
    { type: 'notice.raised', code: 'agent_error', message: 'API Error' },
  ])
})

const rejected = { decision: 'reject', source: 'user_reject' }

test.each([
  ['policy', { tool_result_meta: [{ id: 't1', permission_decision: rejected }] }, 'denied'],
  ['person', {}, 'completed'],
] as const)('a call that a %s denied before it started is denied', (by, more, outcome) => {
  const talk = openTalk()
  talk.hear(asks('r1', 'Bash', { command: 'ls' }, { tool_use_id: 't1' }))
  talk.answer('e1.r1', { decision: 'deny', by })
  talk.hear(call('t1'), returned('t1', 'The user refused this.', more))
  expect(talk.only('tool.completed')).toMatchObject([{ toolId: 't1', status: 'denied', deniedBy: by }])
  talk.hear(result({ permission_denials: [{ tool_name: 'Bash', tool_use_id: 't1' }] }))
  expect(talk.only('turn.completed')).toMatchObject([{ outcome, denials: 1 }])
})

const structured = (id: string, output: object, parent?: string) =>
  call(id, 'StructuredOutput', output, parent)
const bounced = (id: string) => ({
  type: 'user',
  message: { content: [{ type: 'tool_result', tool_use_id: id, content: 'no match', is_error: true }] },
})

test('structured output is the accepted one of the main thread, not a rejected one', () => {
  const talk = openTalk()
  talk.hear(call('tA', 'Agent', {}), structured('tS', { of: 'child' }, 'tA'))
  talk.hear(returned('tS', 'ok', { parent_tool_use_id: 'tA' }), returned('tA', 'ok'), result())
  talk.prompt()
  talk.hear(structured('t1', { wrong: 1 }), bounced('t1'))
  const subtype = 'error_max_structured_output_retries'
  talk.hear(result({ subtype, is_error: true, result: undefined, errors: ['no valid output'] }))
  talk.prompt()
  talk.hear(structured('t2', { wrong: 1 }), bounced('t2'), structured('t3', { right: 1 }))
  talk.hear(returned('t3', 'ok'), result())
  expect(talk.only('turn.completed').map((turn) => turn.structured)).toEqual([
    undefined,
    undefined,
    { right: 1 },
  ])
})

test.each([
  ['billing_error', 'quota_exceeded'],
  ['invalid_request', 'invalid_request'],
])('a request that is refused with 400 for a %s is %s', (error, code) => {
  const talk = openTalk()
  const words = 'Credit balance is too low'
  const failed = { is_api_error_message: true, error, api_error_status: 400 }
  talk.hear(synthetic(words, failed), result({ is_error: true, result: words, api_error_status: 400 }))
  expect(talk.only('turn.completed')).toMatchObject([{ error: { code, message: words } }])
})

const aborted = (more = {}) =>
  result({
    is_error: true,
    terminal_reason: 'aborted_streaming',
    usage: used(0, 0),
    total_cost_usd: 0,
    ...more,
  })

test('the usage of a turn that was cut in its first message is unknown, not zero', () => {
  const talk = openTalk()
  const emitted = talk.hear(...half('m1', halfText('Hel')), aborted())
  expect(eventsOf(emitted, 'usage.reported')).toEqual([])
  expect(eventsOf(emitted, 'turn.completed')[0]?.usage).toEqual({ partial: true })
  talk.prompt()
  talk.hear(init(), aborted({ total_cost_usd: 0.5 }))
  expect(talk.only('turn.completed')[1]).toMatchObject({ usage: { costUsd: 0.5 } })
  talk.prompt()
  talk.hear(init(), result({ usage: used(0, 0) }))
  expect(talk.only('turn.completed')[2]).toMatchObject({ usage: { input: 0, output: 0 } })
})

test('a call of a sub-agent continues under its own id, not as the call of the sub-agent', () => {
  const talk = openTalk()
  const beat = {
    type: 'tool_progress',
    tool_use_id: 'tC',
    tool_name: 'Bash',
    parent_tool_use_id: 'tA',
    elapsed_time_seconds: 3,
  }
  talk.hear(call('tA', 'Agent', {}), call('tC', 'Bash', {}, 'tA'))
  expect(talk.hear(beat)).toEqual([{ type: 'tool.progressed', toolId: 'tC', elapsedMs: 3000 }])
  talk.hear(returned('tC', 'ok', { parent_tool_use_id: 'tA' }))
  expect(talk.hear(beat)).toEqual([])
})

test('a file that was there is changed, and a notebook is a file', () => {
  const talk = openTalk()
  const update = { type: 'update', filePath: '/a', content: 'x', structuredPatch: [], originalFile: null }
  talk.hear(call('t1', 'Write', { file_path: '/a' }), returned('t1', 'ok', { tool_use_result: update }))
  const notebook = { notebook_path: '/n.ipynb', original_file: '{a}', updated_file: '{b}', error: '' }
  talk.hear(call('t2', 'NotebookEdit', { notebook_path: '/n.ipynb' }))
  talk.hear(returned('t2', 'ok', { tool_use_result: notebook }))
  talk.hear(call('t3', 'NotebookEdit', { notebook_path: '/n.ipynb' }))
  talk.hear(returned('t3', 'ok', { tool_use_result: { ...notebook, error: 'no such cell' } }))
  expect(talk.only('file.changed')).toEqual([
    { type: 'file.changed', path: '/a', change: 'modified', after: 'x', toolId: 't1' },
    {
      type: 'file.changed',
      path: '/n.ipynb',
      change: 'modified',
      before: '{a}',
      after: '{b}',
      toolId: 't2',
    },
  ])
})

test('of calls that return in one line, the one that edits the file has changed it', () => {
  const talk = openTalk()
  talk.hear(call('t0', 'Read', { file_path: '/a' }), call('t1', 'Write', { file_path: '/a' }), call('t2'))
  const content = ['t0', 't1', 't2'].map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' }))
  const tool_use_result = { type: 'create', filePath: '/a', content: 'x', structuredPatch: [] }
  talk.hear({ type: 'user', message: { role: 'user', content }, tool_use_result })
  expect(talk.only('file.changed')).toMatchObject([{ path: '/a', toolId: 't1' }])
  expect(talk.only('tool.completed').map(({ data }) => data)).toEqual([undefined, tool_use_result, undefined])
})
