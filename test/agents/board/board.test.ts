import { describe, expect, it } from 'vitest'
import { decodeRecording } from '../../../src/compose/decode.ts'
import { fixtures } from '../fixtures.ts'
import { violations } from '../invariants.ts'
import { SessionEvent } from '../native/board.ts'
import { BoardTalk, SESSION, working } from './board-talk.ts'

const edit = {
  tool: 'Edit',
  args: {
    file_path: '/src/auth.ts',
    old_string: 'function login()',
    new_string: 'async function login()',
  },
}
const diff = { file: 'src/auth.ts', diff: '@@ -10,5 +10,8 @@\n-old line\n+new line' }
const updated = { tool: 'Edit', success: true, output: 'File updated successfully' }

describe('events of a board', () => {
  it('is the events of its document, one for one', () => {
    const talk = working()
    talk.emit('plan', { message: 'Planning edits for: Refactor authentication' })
    talk.emit('log', { line: 'Reading file: src/auth.ts' })
    talk.emit('action', edit)
    talk.emit('diff', diff)
    talk.emit('toolResult', updated)
    talk.close('done')
    const id = (number: number) => `evt-550e8400-e29b-41d4-a716-00000000000${number}`
    const call = { toolId: id(3), name: 'Edit', kind: 'edit' }
    expect(talk.events.slice(1)).toEqual([
      { type: 'session.updated', nativeSessionId: SESSION },
      {
        type: 'text.completed',
        messageId: id(1),
        text: 'Planning edits for: Refactor authentication',
        phase: 'commentary',
      },
      { type: 'text.completed', messageId: id(2), text: 'Reading file: src/auth.ts' },
      { type: 'tool.started', ...call, title: '/src/auth.ts', input: edit.args },
      { type: 'file.changed', path: 'src/auth.ts', change: 'modified', diff: diff.diff, toolId: id(3) },
      { type: 'tool.completed', ...call, status: 'success', output: 'File updated successfully' },
      {
        type: 'turn.completed',
        turn: 1,
        outcome: 'completed',
        durationMs: 0,
        exit: { code: 0 },
        nativeReason: 'done',
        denials: 0,
      },
    ])
  })

  it('fits its schema in every transcript', () => {
    const messages = fixtures
      .filter(({ agent }) => agent === 'board')
      .flatMap(({ lines }) => lines.filter((line) => line !== '').map((line) => JSON.parse(line).msg))
    const events = messages.filter((message) => 'payload' in message)
    expect(events.length).toBeGreaterThan(40)
    for (const event of events) expect(SessionEvent.parse(event)).toEqual(event)
  })

  it('is one turn when a file has nothing but its events', () => {
    const event = (id: string, type: string, payload: object) =>
      `${JSON.stringify({ id, sessionId: SESSION, type, payload, timestamp: '2025-12-03T10:00:01Z' })}\n`
    const text = event('a', 'log', { line: 'Working' }) + event('b', 'cancelled', {})
    const { entries } = decodeRecording({ agent: 'board', stdout: [new TextEncoder().encode(text)] })
    expect(violations(entries)).toEqual([])
    expect(entries.map(({ event }) => event.type)).toEqual([
      'session.started',
      'session.updated',
      'turn.started',
      'text.completed',
      'turn.completed',
    ])
    expect(entries.at(-1)?.event).toMatchObject({ outcome: 'interrupted' })
  })

  it('about a request is a notice, not text of the agent', () => {
    const talk = working()
    const request = { requestId: 'r1', decision: 'allow' }
    talk.emit('log', { line: 'Allowed: Bash: ls', request })
    expect(talk.events.at(-1)).toEqual({
      type: 'notice.raised',
      level: 'warning',
      code: 'agent_warning',
      message: 'Allowed: Bash: ls',
      data: request,
    })
  })

  it('that is repeated after a reconnect is dropped, with its prefix or without', () => {
    const talk = working()
    const event = { sessionId: SESSION, type: 'log', payload: { line: 'once' } }
    for (const id of ['evt-1', '1', 'evt-1', '2', 'evt-2']) talk.line(JSON.stringify({ id, ...event }))
    expect(talk.of('text.completed').map(({ messageId }) => messageId)).toEqual(['evt-1', '2'])
  })

  it('without an id is decoded every time', () => {
    const talk = working()
    for (let time = 0; time < 2; time++) talk.line('{"type":"log","payload":{"line":"again"}}')
    expect(talk.of('text.completed').map(({ messageId }) => messageId)).toEqual(['e1.n1', 'e1.n2'])
  })

  it.each([
    ['a type that is not known', 'progress', { percent: 10 }, {}],
    ['another session', 'log', { line: 'not ours' }, { sessionId: '00000000-0000-4000-8000-000000000000' }],
    ['a log without a line', 'log', { text: 'elsewhere' }, {}],
    ['a plan without a message', 'plan', { steps: ['a'] }, {}],
    ['an action without a tool', 'action', { name: 'Edit' }, {}],
    ['a result without a tool', 'toolResult', { success: true }, {}],
    ['a diff without a file', 'diff', { diff: '+1' }, {}],
  ])('that is %s is kept whole', (_what, type, payload, more) => {
    const talk = working()
    talk.emit(type, payload, more)
    const [kept] = talk.of('native.unmapped')
    expect(kept).toMatchObject({ nativeType: type })
    expect(JSON.parse(kept?.frame ?? '')).toMatchObject({ type, payload })
    expect(talk.conversation.coverage).toMatchObject({ unmapped: 1, mapped: 1, frames: 2 })
  })

  it('that is not JSON is output', () => {
    const talk = working()
    talk.line('hello')
    expect(talk.of('output.written')).toEqual([{ type: 'output.written', stream: 'stdout', line: 'hello' }])
  })
})

describe('a turn on a board', () => {
  it.each([
    ['done', 'completed', undefined],
    ['cancelled', 'interrupted', undefined],
    ['failed', 'failed', 'unknown'],
    ['paused', 'failed', 'protocol_error'],
    [undefined, 'failed', 'protocol_error'],
  ])('with the session state %s is %s', (state, outcome, code) => {
    const talk = working()
    talk.emit('log', { line: 'Working' })
    talk.close(state)
    const [turn] = talk.of('turn.completed')
    expect([turn?.outcome, turn?.error?.code]).toEqual([outcome, code])
  })

  it('ends with its connection and not before, so that nothing follows its end', () => {
    const talk = working()
    talk.emit('error', { message: 'Session failed: Permission denied' })
    talk.emit('log', { line: 'Cleaning up' })
    talk.http('state', 200, { state: 'failed' })
    expect(talk.outcomes).toEqual([])
    talk.exit({ code: 0 })
    expect(talk.of('turn.completed')).toMatchObject([
      { outcome: 'failed', error: { code: 'unknown', message: 'Session failed: Permission denied' } },
    ])
  })

  it('keeps its first error, and reports the others', () => {
    const talk = working()
    talk.emit('error', { message: 'first', code: 'rate_limited', outcome: 'timeout' })
    talk.emit('error', { message: 'second' })
    talk.emit('cancelled', {})
    talk.close('done')
    expect(talk.of('notice.raised')).toMatchObject([{ level: 'error', message: 'second' }])
    expect(talk.of('turn.completed')).toMatchObject([
      { outcome: 'failed', error: { code: 'rate_limited', message: 'first' }, nativeReason: 'timeout' },
    ])
  })

  it('without a report of its end crashed', () => {
    const talk = working()
    talk.emit('log', { line: 'Working' })
    talk.exit({})
    expect(talk.outcomes).toEqual(['crashed'])
  })

  it('whose server is gone failed', () => {
    const talk = working()
    const error = { code: 'connection_failed', message: 'gone' } as const
    talk.exit({ error })
    expect(talk.of('turn.completed')).toMatchObject([{ outcome: 'failed', error }])
    expect(talk.of('notice.raised')).toEqual([])
  })

  it.each([
    ['prompt', 401, 'authentication_failed'],
    ['prompt', 403, 'authentication_failed'],
    ['prompt', 404, 'invalid_request'],
    ['prompt', 422, 'invalid_request'],
    ['prompt', 429, 'rate_limited'],
    ['prompt', 302, 'protocol_error'],
    ['prompt', 503, 'connection_failed'],
    ['state', 404, 'session_not_found'],
    ['events', 404, 'session_not_found'],
    ['events', 401, 'authentication_failed'],
  ])('whose %s call returns %i failed with %s', (tag, status, code) => {
    const talk = tag === 'prompt' ? new BoardTalk() : working()
    if (tag === 'prompt') talk.prompt('Go')
    talk.http(tag, status, { error: 'the reason' })
    talk.exit({ code: 0 })
    const message = `the board returned ${status}: the reason`
    expect(talk.of('turn.completed')).toMatchObject([{ outcome: 'failed', error: { code, message } }])
  })

  it('needs an id that is safe in a path', () => {
    const talk = new BoardTalk()
    talk.prompt('Go')
    talk.http('prompt', 201, { id: '../../admin', state: 'running' })
    talk.exit({ code: 0 })
    expect(talk.of('session.updated')).toEqual([])
    expect(talk.of('turn.completed')).toMatchObject([{ error: { code: 'protocol_error' } }])
  })
})
