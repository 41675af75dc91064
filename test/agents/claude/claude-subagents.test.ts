import { expect, test } from 'vitest'
import { eventsIn } from './claude-recordings.ts'
import { assistant, eventsOf, openTalk, result } from './claude-talk.ts'

test('a request of a sub-agent names the call it was started by', () => {
  const events = eventsIn('bidi_perm_subagent')
  const [agent, shell] = eventsOf(events, 'tool.started')
  expect(eventsOf(events, 'request.opened')).toMatchObject([
    { tool: 'Bash', toolId: shell?.toolId, parent: agent?.toolId },
  ])
  expect(eventsOf(events, 'request.resolved')).toMatchObject([{ decision: 'allow', by: 'person' }])
})

test('a sub-agent that a denial stopped has not failed, and its parent continues', () => {
  const events = eventsIn('bidi_perm_subagent_stop')
  expect(eventsOf(events, 'tool.completed')).toMatchObject([
    { name: 'Bash', status: 'denied', deniedBy: 'person' },
    { name: 'Agent', status: 'cancelled' },
  ])
  expect(eventsOf(events, 'subagent.completed')).toMatchObject([{ status: 'cancelled' }])
  expect(eventsOf(events, 'turn.completed')).toMatchObject([{ outcome: 'completed', denials: 1 }])
})

test('a sub-agent that retries its model call reports it', () => {
  const retry = { type: 'limit.reported', kind: 'retry', of: 4, status: 529, message: 'overloaded' }
  expect(eventsOf(eventsIn('subagent_retry'), 'limit.reported')).toEqual([
    { ...retry, attempt: 1, delayMs: 606 },
    { ...retry, attempt: 2, delayMs: 1226 },
  ])
})

test('two results at the end of a process are one turn, including output of its background sub-agent', () => {
  const events = eventsIn('subagent_bg')
  expect(eventsOf(events, 'subagent.started')).toMatchObject([{ background: true }])
  const [{ id } = { id: '' }] = eventsOf(events, 'subagent.completed')
  const inner = eventsOf(events, 'text.completed').filter(({ parent }) => parent === id)
  expect(inner.map(({ text }) => text)).toEqual(['Inner starts.', 'Inner done.'])
  expect(eventsOf(events, 'turn.completed')).toHaveLength(1)
})

test('the failure of a sub-agent is not that of the turn', () => {
  const talk = openTalk()
  const inner = { is_api_error_message: true, error: 'authentication_failed', parent_tool_use_id: 'tA' }
  talk.hear(
    assistant('m1', { type: 'text', text: 'Not logged in' }, inner),
    result({ is_error: true, subtype: 'error_during_execution', result: undefined, errors: ['it broke'] }),
  )
  expect(talk.only('turn.completed')).toMatchObject([
    { outcome: 'failed', error: { code: 'unknown', message: 'it broke' } },
  ])
})

const task = { type: 'tool_use', id: 'tA', name: 'Task', input: { description: 'look', prompt: 'Look!' } }
const shell = { type: 'tool_use', id: 'tB', name: 'Bash', input: { command: 'ls' } }
const inside = { parent_tool_use_id: 'tA' }
const returned = { message: { content: [{ type: 'tool_result', tool_use_id: 'tA', content: 'found' }] } }

test('a sub-agent that is not announced starts with its first line, and ends with its call', () => {
  const talk = openTalk()
  talk.hear(assistant('m1', task), assistant('c1', shell, inside), { type: 'user', ...returned }, result())
  const types = talk.events.map(({ type }) => type)
  expect(types.indexOf('subagent.started')).toBeLessThan(types.lastIndexOf('tool.started'))
  expect(talk.only('subagent.started')).toMatchObject([
    { id: 'tA', toolId: 'tA', label: 'look', prompt: 'Look!', background: false },
  ])
  expect(talk.only('subagent.completed')).toMatchObject([{ id: 'tA', status: 'success' }])
})

test('one that is announced after its first line is the same', () => {
  const talk = openTalk()
  const announced = { type: 'system', subtype: 'task_started', task_type: 'local_agent', tool_use_id: 'tA' }
  talk.hear(
    assistant('m1', task),
    assistant('c1', shell, inside),
    { ...announced, is_backgrounded: true },
    { type: 'user', ...returned },
  )
  expect(talk.only('subagent.started')).toHaveLength(1)
  expect(talk.only('subagent.completed')).toEqual([])
})

test('a denial by a person between two turns does not make the next turn denied', () => {
  const talk = openTalk()
  const ask = { subtype: 'can_use_tool', tool_name: 'Bash', input: shell.input, tool_use_id: 'tB' }
  const launched = { ...returned, tool_use_result: { status: 'async_launched' } }
  talk.hear(assistant('m1', task), assistant('c0', { type: 'text', text: 'hm' }, inside))
  talk.hear({ type: 'user', ...launched }, result())
  talk.hear(assistant('c1', shell, inside), { type: 'control_request', request_id: 'q1', request: ask })
  const [request] = talk.only('request.opened')
  talk.answer(request?.requestId ?? '', { decision: 'deny' })
  const refused = { type: 'tool_result', tool_use_id: 'tB', content: 'no', is_error: true }
  talk.hear({ type: 'user', message: { content: [refused] }, ...inside })
  talk.prompt()
  const permission_denials = [{ tool_name: 'Bash', tool_use_id: 'tB', tool_input: {} }]
  talk.hear(result({ permission_denials }))
  expect(talk.only('tool.completed').at(-1)).toMatchObject({ status: 'denied', deniedBy: 'person' })
  expect(talk.only('turn.completed').at(-1)).toMatchObject({ outcome: 'completed', denials: 0 })
})
