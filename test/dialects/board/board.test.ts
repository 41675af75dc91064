import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SessionEvent } from '../../../src/dialects/board/board-event.ts'
import { board } from '../../../src/dialects/board.ts'
import { type Event, FACES, Outcome } from '../../../src/model/index.ts'
import { SAMPLES } from '../../model/samples.ts'
import { entriesOf, projectAll } from '../entries.ts'
import { schema } from '../json-schema.ts'
import { boardState } from './board-state.ts'

const say = (...events: Event[]) =>
  projectAll(board, entriesOf(...events)).map(({ type, payload }) => ({ type, payload }))
const stateOf = (...events: Event[]) => boardState(entriesOf(...events))

const turn = (number: number): Event => ({ ...SAMPLES['turn.started'], turn: number })
const queued = (number: number): Event => ({ ...SAMPLES['turn.queued'], turn: number })
const completed = (more: Partial<Extract<Event, { type: 'turn.completed' }>> = {}): Event => ({
  ...SAMPLES['turn.completed'],
  ...more,
})
const tool = { toolId: 't1', name: 'Bash', kind: 'execute' } as const

test('a session with a tool reads as the document shows it', () => {
  const entries = entriesOf(
    SAMPLES['session.started'],
    SAMPLES['turn.started'],
    { type: 'text.delta', messageId: 'm4:0', text: 'I will list files.' },
    { type: 'text.completed', messageId: 'm4:0', text: 'I will list files.' },
    { type: 'tool.started', ...tool, title: 'ls', input: { command: 'ls' } },
    { type: 'tool.completed', ...tool, status: 'success', output: 'README.md\na.txt' },
    completed(),
  )
  expect(projectAll(board, entries).map((message) => JSON.stringify(message))).toEqual([
    '{"id":"e824e3e2-a164-5410-87d8-cd7d34599fde","sessionId":"3f0f4a8e-5f0a-4f57-9d5e-0c6a4d3b2a11","type":"log","payload":{"line":"I will list files."},"timestamp":"1970-01-01T00:00:01.003Z"}',
    '{"id":"284759d8-88bb-5efa-a540-8778a7698bd3","sessionId":"3f0f4a8e-5f0a-4f57-9d5e-0c6a4d3b2a11","type":"action","payload":{"tool":"Bash","args":{"command":"ls"},"toolId":"t1"},"timestamp":"1970-01-01T00:00:01.004Z"}',
    '{"id":"47ca36df-9148-56ce-9709-e56ddaf7dd4a","sessionId":"3f0f4a8e-5f0a-4f57-9d5e-0c6a4d3b2a11","type":"toolResult","payload":{"tool":"Bash","success":true,"output":"README.md\\na.txt","toolId":"t1"},"timestamp":"1970-01-01T00:00:01.005Z"}',
  ])
})

describe('text and thinking', () => {
  test('are emitted whole, text as a log line and thinking as a plan', () => {
    const messages = say(
      { type: 'thinking.delta', messageId: 'm1', text: 'Let me ' },
      { type: 'thinking.completed', messageId: 'm1', text: 'Let me see.' },
      { type: 'text.delta', messageId: 'm2', text: 'Half' },
      { type: 'message.discarded', messageId: 'm2', reason: 'stream_broken' },
      { type: 'text.completed', messageId: 'm3', text: 'Half and whole.' },
    )
    expect(messages).toEqual([
      { type: 'plan', payload: { message: 'Let me see.' } },
      { type: 'log', payload: { line: 'Half and whole.' } },
    ])
  })

  test('that are empty, or a sub-agent’s, stay out', () => {
    const messages = say(
      { type: 'text.completed', messageId: 'm1', text: '' },
      { type: 'thinking.completed', messageId: 'm2', text: '' },
      { type: 'text.completed', messageId: 'c1', text: 'child', parent: 's1' },
      { type: 'thinking.completed', messageId: 'c2', text: 'child', parent: 's1' },
      { type: 'plan.updated', items: [{ text: 'child', status: 'pending' }], parent: 's1' },
    )
    expect(messages).toEqual([])
  })
})

test('a plan is a list with a mark for each item', () => {
  const items = [
    { text: 'read', status: 'completed' },
    { text: 'write', status: 'in_progress' },
    { text: 'test', status: 'pending' },
  ] as const
  const list = '[x] read\n[~] write\n[ ] test'
  expect(say({ type: 'plan.updated', items: [...items] })).toEqual([
    { type: 'plan', payload: { message: list } },
  ])
  expect(say({ type: 'plan.updated', items: [...items], explanation: 'As agreed.' })).toEqual([
    { type: 'plan', payload: { message: `As agreed.\n${list}` } },
  ])
  expect(say({ type: 'plan.updated', items: [] })).toEqual([])
})

describe('a tool', () => {
  test('of a sub-agent is shown, with an object as its arguments', () => {
    expect(say({ type: 'tool.started', ...tool, input: 'ls', parent: 's1' })).toEqual([
      { type: 'action', payload: { tool: 'Bash', args: { value: 'ls' }, toolId: 't1' } },
    ])
  })

  test.each([
    [
      { status: 'success', output: 'ok', data: { n: 1 } },
      { success: true, output: 'ok' },
    ],
    [
      { status: 'success', data: { n: 1 } },
      { success: true, output: '{"n":1}' },
    ],
    [
      { status: 'success', blob: { id: 'b', bytes: 9 } },
      { success: true, output: '[9 bytes in blob b]' },
    ],
    [{ status: 'success' }, { success: true, output: '' }],
    [
      { status: 'error', error: 'no file' },
      { success: false, output: 'no file', status: 'error' },
    ],
    [
      { status: 'error', output: '', error: 'no file' },
      { success: false, output: 'no file', status: 'error' },
    ],
    [
      { status: 'error', output: 'half', error: 'no file' },
      { success: false, output: 'half', status: 'error', error: 'no file' },
    ],
    [{ status: 'denied' }, { success: false, output: '', status: 'denied' }],
    [{ status: 'cancelled' }, { success: false, output: '', status: 'cancelled' }],
    [{ status: 'unknown' }, { success: true, output: '', status: 'unknown' }],
  ] as const)('that ended with %o says %o', (end, result) => {
    expect(say({ type: 'tool.completed', ...tool, ...end })).toEqual([
      { type: 'toolResult', payload: { tool: 'Bash', toolId: 't1', ...result } },
    ])
  })
})

describe('a file', () => {
  const diffOf = (facts: Omit<Extract<Event, { type: 'file.changed' }>, 'type' | 'path'>) =>
    say({ type: 'file.changed', path: 'a.ts', ...facts })[0]?.payload

  test('is shown with the diff of the agent, or one that is made of both texts', () => {
    expect(diffOf({ change: 'modified', diff: '@@ theirs', before: 'a\n', after: 'b\n' })).toEqual({
      file: 'a.ts',
      diff: '@@ theirs',
    })
    expect(diffOf({ change: 'modified', before: 'a\n', after: 'b\n' })).toEqual({
      file: 'a.ts',
      diff: '@@ -1,1 +1,1 @@\n-a\n+b\n',
    })
  })

  test('that is new or gone needs only one text', () => {
    const created = { file: 'a.ts', diff: '@@ -0,0 +1,1 @@\n+b\n', change: 'created' }
    expect(diffOf({ change: 'created', after: 'b\n' })).toEqual(created)
    const deleted = { file: 'a.ts', diff: '@@ -1,1 +0,0 @@\n-a\n', change: 'deleted' }
    expect(diffOf({ change: 'deleted', before: 'a\n' })).toEqual(deleted)
  })

  test('of which too little is known has an empty diff, never an invented one', () => {
    for (const facts of [{}, { before: 'a\n' }, { after: 'b\n' }]) {
      expect(diffOf({ change: 'modified', ...facts })).toEqual({ file: 'a.ts', diff: '' })
    }
  })

  const renamed = (facts: Partial<Extract<Event, { type: 'file.changed' }>>) =>
    say({ type: 'file.changed', path: 'a.ts', change: 'renamed', toolId: 't1', ...facts })

  test('that was renamed is gone under its old name and there under the new one', () => {
    const [gone, there] = ['@@ -1,1 +0,0 @@\n-a\n', '@@ -0,0 +1,1 @@\n+b\n']
    expect(renamed({ from: 'b.ts', before: 'a\n', after: 'b\n' })).toEqual([
      { type: 'diff', payload: { file: 'b.ts', diff: gone, change: 'deleted' } },
      { type: 'diff', payload: { file: 'a.ts', diff: there, change: 'created', from: 'b.ts' } },
    ])
    expect(renamed({ from: 'b.ts', diff: '@@ -1,1 +1,1 @@\n-a\n+b\n' })).toEqual([
      { type: 'diff', payload: { file: 'b.ts', diff: '', change: 'deleted' } },
      {
        type: 'diff',
        payload: { file: 'a.ts', diff: '@@ -1,1 +1,1 @@\n-a\n+b\n', change: 'created', from: 'b.ts' },
      },
    ])
    expect(renamed({})).toEqual([{ type: 'diff', payload: { file: 'a.ts', diff: '', change: 'created' } }])
  })
})

describe('the end', () => {
  const late: Event[] = [
    { type: 'tool.started', ...tool, parent: 's1' },
    { type: 'tool.completed', ...tool, status: 'success', parent: 's1' },
    { type: 'file.changed', path: 'a.ts', change: 'modified', toolId: 't1', parent: 's1' },
    { type: 'text.completed', messageId: 'm9', text: 'late' },
  ]

  test.each(Outcome.options)('%s is the last message, until another turn starts', (outcome) => {
    const ended = say(turn(1), completed({ outcome }))
    expect(say(turn(1), completed({ outcome }), ...late)).toEqual(ended)
    const log = { type: 'log', payload: { line: 'late' } }
    expect(say(turn(1), completed({ outcome }), ...late, turn(2), ...late.slice(3))).toEqual([...ended, log])
  })

  test.each(Outcome.options)('%s is emitted once, and is the state from then on', (outcome) => {
    const events = [turn(1), completed({ outcome })]
    const error = { type: 'error', payload: { message: expect.any(String), outcome } }
    const expected = { done: [], cancelled: [{ type: 'cancelled', payload: {} }], failed: [error] }
    expect(say(...events)).toEqual(expected[FACES[outcome].board])
    expect(say(...events, SAMPLES['session.ended'])).toEqual(expected[FACES[outcome].board])
    expect(stateOf(...events, SAMPLES['session.ended'])).toBe(FACES[outcome].board)
  })

  test('carries the reason that was given', () => {
    const error = { code: 'rate_limited', message: 'slow down' } as const
    expect(say(completed({ outcome: 'failed', error }))).toEqual([
      { type: 'error', payload: { message: 'slow down', code: 'rate_limited', outcome: 'failed' } },
    ])
  })

  test('of a turn with others queued is a log line, because clients treat an error as the end', () => {
    const error = { code: 'rate_limited', message: 'slow down' } as const
    const events = [turn(1), queued(2), completed({ outcome: 'failed', error }), turn(2)]
    expect(say(...events)).toEqual([{ type: 'log', payload: { line: 'slow down', outcome: 'failed' } }])
    expect(stateOf(...events)).toBe('running')
    expect(say(...events, completed({ turn: 2 }))).toHaveLength(1)
    expect(stateOf(...events, completed({ turn: 2 }))).toBe('done')
  })

  test.each([
    ['completed', 'done', []],
    ['failed', 'failed', ['error']],
    ['cancelled', 'cancelled', ['cancelled']],
    ['timeout', 'failed', ['error']],
    ['lost', 'failed', ['error']],
  ] as const)('of a session (%s) before any turn did is the state %s', (reason, state, types) => {
    const error = { code: 'unknown', message: 'gone' } as const
    for (const events of [[], [turn(1)]]) {
      const messages = say(...events, { type: 'session.ended', reason, error })
      expect(messages.map(({ type }) => type)).toEqual(types)
      if (state === 'failed')
        expect(messages[0]?.payload).toEqual({ message: 'gone', code: 'unknown', outcome: reason })
      expect(stateOf(...events, { type: 'session.ended', reason })).toBe(state)
    }
  })
})

describe('the state', () => {
  test('is running from the start, and again when a session continues', () => {
    expect(stateOf(SAMPLES['session.started'])).toBe('running')
    expect(stateOf(turn(1), completed({ outcome: 'failed' }), turn(2))).toBe('running')
    expect(stateOf(turn(1), completed(), queued(2))).toBe('running')
    expect(stateOf(turn(1), completed({ outcome: 'failed' }), turn(2), completed({ turn: 2 }))).toBe('done')
  })

  test('is that of the turn which ends last, not of a prompt that was dropped', () => {
    const dropped = completed({ turn: 2, outcome: 'interrupted' })
    expect(stateOf(turn(1), queued(2), dropped)).toBe('running')
    expect(stateOf(turn(1), queued(2), dropped, completed())).toBe('done')
  })
})

test('a stream is finished with the end of its log, not before, and then silent', () => {
  const state = board.initial({})
  const said: Event = { type: 'text.completed', messageId: 'm1', text: 'hello' }
  const seen = entriesOf(completed(), turn(2), said, SAMPLES['session.ended'], said).map((entry) => {
    const count = board.project(state, entry).length
    return [count, board.finished(state)]
  })
  expect(seen).toEqual([
    [0, false],
    [0, false],
    [1, false],
    [0, true],
    [0, true],
  ])
})

test('for any log, every message is valid and has a unique id', () => {
  const printed = schema('board-event.printed')
  const event = fc.constantFrom(...Object.values(SAMPLES), completed({ outcome: 'failed' }))
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const messages = SessionEvent.array().parse(projectAll(board, entriesOf(...events)))
      expect(messages.map(printed).filter(Boolean)).toEqual([])
      expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length)
    }),
  )
})
