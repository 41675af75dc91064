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

test('a sub-agent that is stopped by a refusal has not failed, and its parent goes on', () => {
  const events = eventsIn('bidi_perm_subagent_stop')
  expect(eventsOf(events, 'tool.completed')).toMatchObject([
    { name: 'Bash', status: 'denied', deniedBy: 'person' },
    { name: 'Agent', status: 'cancelled' },
  ])
  expect(eventsOf(events, 'subagent.completed')).toMatchObject([{ status: 'cancelled' }])
  expect(eventsOf(events, 'turn.completed')).toMatchObject([{ outcome: 'completed', denials: 1 }])
})

test('a sub-agent that calls its model again says so', () => {
  const retry = { type: 'limit.reported', kind: 'retry', of: 4, status: 529, message: 'overloaded' }
  expect(eventsOf(eventsIn('subagent_retry'), 'limit.reported')).toEqual([
    { ...retry, attempt: 1, delayMs: 606 },
    { ...retry, attempt: 2, delayMs: 1226 },
  ])
})

test('two results at the end of a process are one turn, with what its sub-agent said in the background', () => {
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
