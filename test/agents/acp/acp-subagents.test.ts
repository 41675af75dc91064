import { describe, expect, test } from 'vitest'
import type { Event } from '../../../src/model/index.ts'
import { asks, eventsIn, eventsOf, result, Talk, update } from './acp-talk.ts'

const announce = (id: string, more: object, sessionId = 's1') =>
  update('subagent_update', { sessionId: id, ...more }, sessionId)
const running = (id: string, sessionId?: string) => announce(id, { state: { state: 'running' } }, sessionId)
const idle = (id: string, stopReason = 'end_turn') => announce(id, { state: { state: 'idle', stopReason } })
const says = (text: string, sessionId?: string) =>
  update('agent_message_chunk', { content: { type: 'text', text }, messageId: `m-${sessionId}` }, sessionId)

const told = (events: readonly Event[]) =>
  events.flatMap((event) =>
    event.type === 'text.completed' || event.type === 'tool.completed' || event.type === 'subagent.started'
      ? [[event.type, event.parent]]
      : [],
  )

describe('sub-agents with sessions of their own', () => {
  test.each(['acp-codex2/subagent_sessions', 'acp-claude/subagent_sessions'])('%s', (name) => {
    const events = eventsIn(name)
    const [started] = eventsOf(events, 'subagent.started')
    const id = started?.id ?? ''
    const inner = eventsOf(events, 'tool.completed').filter(({ parent }) => parent === id)
    expect(inner).toMatchObject([{ status: 'success', output: expect.stringContaining('inner-output') }])
    const texts = eventsOf(events, 'text.completed').map(({ text, parent }) => [text, parent])
    expect(texts).toEqual([
      ['I delegate this.', undefined],
      ['The inner result.', id],
      ['The sub-agent is done.', undefined],
    ])
    expect(eventsOf(events, 'subagent.completed')).toMatchObject([
      { id, status: 'success', summary: 'The inner result.' },
    ])
    expect(eventsOf(events, 'turn.completed')[0]?.result).toBe('The sub-agent is done.')
  })

  test('usage that lacks the sub-agents is partial', () => {
    const [end] = eventsOf(eventsIn('acp-codex2/subagent_sessions'), 'turn.completed')
    expect(end?.usage).toMatchObject({ total: 806, partial: true })
  })

  test('text of both threads stays apart, however it is mixed', () => {
    const talk = new Talk().begin()
    talk.hear(running('c1'), says('in', 'c1'), says('out'), says('ner', 'c1'), says('er'), idle('c1'))
    talk.hear(result(3, { stopReason: 'end_turn' }))
    expect(talk.only('text.completed').map(({ text, parent }) => [text, parent])).toEqual([
      ['inner', 'c1'],
      ['outer', undefined],
    ])
    expect(talk.only('turn.completed')[0]?.result).toBe('outer')
  })

  test('a sub-agent of a sub-agent names its parent', () => {
    const talk = new Talk().begin()
    talk.hear(running('c1'), running('c2', 'c1'), says('deep', 'c2'), idle('c1'))
    expect(talk.only('subagent.started')).toMatchObject([{ id: 'c1' }, { id: 'c2', parent: 'c1' }])
  })

  test('its work continues after the turn, without a turn', () => {
    const talk = new Talk().begin()
    talk.hear(running('c1'), result(3, { stopReason: 'end_turn' }))
    const call = { toolCallId: 't', title: 'x', kind: 'execute' }
    const late = talk.hear(
      update('tool_call', call, 'c1'),
      update('tool_call_update', { toolCallId: 't', status: 'completed' }, 'c1'),
      says('done', 'c1'),
      idle('c1'),
    )
    expect(told(late)).toEqual([
      ['tool.completed', 'c1'],
      ['text.completed', 'c1'],
    ])
    expect(eventsOf(late, 'subagent.completed')).toMatchObject([{ status: 'success', summary: 'done' }])
  })

  test('new work starts it again', () => {
    const talk = new Talk().begin()
    talk.hear(announce('c1', { title: 'Job' }), idle('c1', 'cancelled'), running('c1'), idle('c1', 'refusal'))
    expect(talk.only('subagent.started').map(({ label }) => label)).toEqual(['Job', 'Job'])
    expect(talk.only('subagent.completed').map(({ status }) => status)).toEqual(['cancelled', 'error'])
  })

  test('its text after its end is kept, and not attributed to the main thread', () => {
    const talk = new Talk().begin()
    talk.hear(running('c1'), idle('c1'))
    expect(talk.hear(says('late', 'c1'))).toMatchObject([
      { type: 'notice.raised', code: 'late_frame', message: 'late' },
    ])
  })

  test('its requests name it', () => {
    const talk = new Talk().begin()
    talk.hear(running('c1'))
    const request = asks(0, { toolCallId: 't', title: 'x', kind: 'execute' })
    const params = { ...Object(request.params), sessionId: 'c1' }
    talk.hear({ ...request, params })
    expect(talk.only('request.opened')).toMatchObject([{ parent: 'c1' }])
    expect(talk.only('tool.started')).toMatchObject([{ parent: 'c1' }])
  })

  test('a message to it is reported once, and its answer is its text', () => {
    const talk = new Talk().begin()
    const message = (from: string, to: string, text: string) => ({
      senderSessionId: from,
      recipientSessionId: to,
      content: [{ type: 'text', text }],
    })
    talk.hear(
      running('c1'),
      update('session_message', message('s1', 'c1', 'Do it.')),
      update('session_message', message('s1', 'c1', 'Do it.'), 'c1'),
      update('session_message', message('c1', 's1', 'Done.')),
    )
    expect(talk.only('subagent.progressed')).toMatchObject([{ id: 'c1', message: 'Do it.' }])
  })

  test('history of a resumed session starts none', () => {
    const talk = new Talk('acp', { resume: 's1' })
    talk.tell({ type: 'open' })
    talk.write(result(1, { protocolVersion: 1, agentCapabilities: { loadSession: true } }))
    talk.hear(announce('c1', { title: 'Job', state: { state: 'idle' } }), says('old', 'c1'))
    expect(talk.only('subagent.started')).toEqual([])
    expect(talk.only('text.delta')).toEqual([])
  })
})
