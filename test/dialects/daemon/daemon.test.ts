import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { StreamEvent } from '../../../src/dialects/daemon/daemon-event.ts'
import { daemon, endsExchange } from '../../../src/dialects/daemon.ts'
import type { DialectOptions } from '../../../src/dialects/dialect.ts'
import { type Event, FACES, Outcome } from '../../../src/model/index.ts'
import { SAMPLES } from '../../model/samples.ts'
import { entriesOf } from '../entries.ts'
import {
  bash,
  begun,
  colours,
  completed,
  delta,
  hello,
  result,
  say,
  sayWith,
  system,
  whole,
} from './daemon-scene.ts'

describe('an exchange reads as the document shows it', () => {
  const lines = (...events: Event[]) =>
    sayWith({}, undefined, ...begun, hello, ...events).map((message) => JSON.stringify(message))
  const first = '{"type":"system","subtype":"init","session_id":"sdk-123","model":"sonnet"}'
  const last = '{"type":"result","session_id":"sdk-123"}'

  test('a simple answer', () => {
    expect(
      lines(
        delta('m1', 'The '),
        delta('m1', 'answer '),
        delta('m1', 'is 42.'),
        whole('m1', 'The answer is 42.'),
        completed(),
      ),
    ).toEqual([
      first,
      '{"type":"partial","content":"The "}',
      '{"type":"partial","content":"answer "}',
      '{"type":"partial","content":"is 42."}',
      '{"type":"text","content":"The answer is 42."}',
      last,
    ])
  })

  test('a tool with its progress', () => {
    expect(
      lines(
        { type: 'tool.started', ...bash, input: { command: 'ls -la' } },
        { type: 'tool.progressed', toolId: 't1', message: 'Running command...' },
        { type: 'tool.completed', ...bash, status: 'success', output: 'src' },
        whole('m1', 'Here are the files.'),
        completed(),
      ),
    ).toEqual([
      first,
      '{"type":"tool_use","tool":"Bash","input":{"command":"ls -la"}}',
      '{"type":"tool_use","tool":"Bash","message":"Running command..."}',
      '{"type":"text","content":"Here are the files."}',
      last,
    ])
  })

  test('a question, which ends the exchange but not the turn', () => {
    const asked =
      '[{"header":"Which colour?","options":[{"label":"Red","description":"Red (warm)"},{"label":"Blue","description":"Blue"}],"multiSelect":false},{"header":"Which sizes?","options":[],"multiSelect":true}]'
    expect(
      lines(
        delta('m1', 'I need to know.'),
        whole('m1', 'I need to know.'),
        {
          type: 'tool.started',
          toolId: 't1',
          name: 'AskUserQuestion',
          kind: 'other',
          input: { questions: [] },
        },
        colours,
        { type: 'request.resolved', requestId: 'e1.0', decision: 'answered', by: 'person' },
        whole('m2', 'Red it is.'),
        completed(),
      ),
    ).toEqual([
      first,
      '{"type":"partial","content":"I need to know."}',
      '{"type":"text","content":"I need to know."}',
      `{"type":"tool_use","tool":"AskUserQuestion","input":${asked},"request_id":"e1.0"}`,
      last,
      first,
      '{"type":"text","content":"Red it is."}',
      last,
    ])
  })

  test('an error and an interruption', () => {
    const error = { code: 'protocol_error', message: 'the agent ended without a result (exit 1)' } as const
    expect(lines(delta('m1', 'Let me '), completed({ outcome: 'crashed', error })).at(-1)).toBe(
      '{"type":"error","message":"the agent ended without a result (exit 1)","code":"protocol_error","outcome":"crashed"}',
    )
    expect(lines(completed({ outcome: 'interrupted' })).at(-1)).toBe('{"type":"interrupted"}')
  })

  test('the words of a crash, with the agent that works', () => {
    const error = { code: 'protocol_error', message: 'no result' } as const
    const crashed = completed({ outcome: 'crashed', error, exit: { code: 1 } })
    const started = { ...SAMPLES['session.started'], agent: 'claude' }
    const messageOf = (...events: Event[]) => say(started, ...events).at(-1)?.message
    expect(messageOf(crashed)).toBe('Claude process exited abnormally (code=1): no result')
    const handedOver = { ...SAMPLES['session.handed_over'], agent: 'codex' }
    expect(messageOf(handedOver, crashed)).toBe('Codex process exited abnormally (code=1): no result')
    expect(messageOf(completed({ outcome: 'crashed', error, exit: { code: 0 } }))).toBe('no result')
    expect(messageOf(completed({ outcome: 'timeout', error, exit: { code: 1 } }))).toBe('no result')
    expect(messageOf(completed({ outcome: 'failed', error }))).toBe('no result')
    expect(messageOf(completed({ outcome: 'failed', error, exit: { code: 7 } }))).toBe(
      'Claude process exited abnormally (code=7): no result',
    )
  })
})

describe('the system message', () => {
  const first = (...events: Event[]) => sayWith({}, undefined, ...begun, ...events)[0]

  test('comes with the handshake, and before the output of an agent without one', () => {
    expect(first(hello)).toEqual(system)
    expect(first(whole('m1', 'hi'))).toEqual({ type: 'system', subtype: 'init' })
    const started = { ...SAMPLES['session.started'], model: 'opus' }
    const [said] = sayWith({}, undefined, started, SAMPLES['turn.started'], whole('m1', 'hi'))
    // The model that was asked for is not the one that the agent has told.
    expect(said).toEqual({ type: 'system', subtype: 'init' })
  })

  test('keeps the earlier model when only the id is reported', () => {
    const told: Event[] = [
      { type: 'session.updated', model: 'sonnet' },
      { type: 'session.updated', nativeSessionId: 'sdk-123' },
    ]
    expect(sayWith({}, undefined, ...begun, ...told)).toEqual([system])
  })

  test('waits for the id of the session, and is not repeated when something changes', () => {
    expect(sayWith({}, undefined, ...begun, { type: 'session.updated', model: 'sonnet' })).toEqual([])
    expect(say({ type: 'session.updated', mode: 'plan' }, hello)).toEqual([])
  })

  test('does not come before the error of an agent that never started', () => {
    const error = { code: 'agent_not_found', message: 'no such program' } as const
    expect(sayWith({}, undefined, ...begun, completed({ outcome: 'failed', error }))).toEqual([
      { type: 'error', message: 'no such program', code: 'agent_not_found', outcome: 'failed' },
    ])
  })

  test('has the id of the new conversation after a lost one, and the loss follows it', () => {
    const lost: Event = { type: 'notice.raised', level: 'warning', code: 'context_lost', message: 'lost' }
    const next: Event = { ...SAMPLES['turn.started'], turn: 2 }
    const announced: Event = { type: 'session.updated', nativeSessionId: 'sdk-456' }
    const said = sayWith({}, undefined, ...begun, hello, completed(), next, lost, announced, whole('m', 'hi'))
    expect(said.slice(2)).toEqual([
      { ...system, session_id: 'sdk-456' },
      { type: 'system', subtype: 'context_lost', message: 'lost' },
      { type: 'text', content: 'hi' },
    ])
  })

  test('comes before an end without output', () => {
    const stopped = completed({ outcome: 'interrupted' })
    expect(sayWith({}, undefined, ...begun, stopped)).toEqual([
      { type: 'system', subtype: 'init' },
      { type: 'interrupted' },
    ])
    const model: Event = { type: 'session.updated', model: 'sonnet' }
    const [first, last] = sayWith({}, undefined, ...begun, model, completed())
    expect(first).toEqual({ type: 'system', subtype: 'init', model: 'sonnet' })
    // An agent that has no id of its own is known by ours.
    expect(last).toEqual({ type: 'result', session_id: entriesOf(...begun)[0]?.session })
  })

  test('starts every exchange', () => {
    const again: Event = { type: 'turn.started', turn: 2, origin: 'agent' }
    expect(say(whole('m1', 'a'), completed(), again, whole('m2', 'b'), completed({ turn: 2 }))).toEqual([
      { type: 'text', content: 'a' },
      result,
      system,
      { type: 'text', content: 'b' },
      result,
    ])
  })
})

describe('a tool', () => {
  const started: Event = { type: 'tool.started', ...bash }

  test.each([
    [{ a: 1 }, { a: 1 }],
    ['ls', { value: 'ls' }],
    [['ls'], { value: ['ls'] }],
    [7, { value: 7 }],
    [null, undefined],
    [undefined, undefined],
  ])('with the input %j has %j', (input, shown) => {
    const expected = [{ type: 'tool_use', tool: 'Bash', ...(shown && { input: shown }) }]
    const messages = say({ type: 'tool.started', ...bash, input })
    expect(messages).toEqual(expected)
    expect(StreamEvent.array().safeParse(messages).error).toBeUndefined()
  })

  test('reports its duration when it has no other progress', () => {
    const progress = (more: object): Event => ({ type: 'tool.progressed', toolId: 't1', ...more })
    expect(say(started, progress({ elapsedMs: 12_400 })).at(-1)).toEqual({
      type: 'tool_use',
      tool: 'Bash',
      message: 'Running for 12 s',
    })
    expect(say(started, progress({ output: 'line' }))).toHaveLength(1)
    const over: Event = { type: 'tool.completed', ...bash, status: 'success' }
    expect(say(started, over, progress({ message: 'of a call that is over' }))).toHaveLength(1)
    expect(say(progress({ message: 'of no call at all' }))).toEqual([])
  })

  test('is drafted only for readers that ask for it, and only on the main thread', () => {
    const draft: Event = { type: 'tool.input.delta', toolId: 't1', name: 'Bash', delta: '{"command"' }
    expect(say(draft)).toEqual([])
    const messages = sayWith({ partial_json: '1' }, undefined, ...begun, hello, draft, {
      ...draft,
      parent: 's1',
    })
    expect(messages).toEqual([system, { type: 'partial', content: '{"command"' }])
  })
})

describe('the end of a turn', () => {
  test.each(Outcome.options)(
    '%s is one message, with the exact outcome if the type does not express it',
    (outcome) => {
      const type = FACES[outcome].daemon
      const messages = say(completed({ outcome }))
      expect(messages).toHaveLength(1)
      const [last] = messages
      expect(last?.type).toBe(type)
      expect(last?.outcome).toBe(outcome === 'completed' || outcome === 'interrupted' ? undefined : outcome)
      expect(typeof last?.message).toBe(type === 'error' ? 'string' : 'undefined')
    },
  )

  test.each([
    [{ signal: 'SIGTERM' }, 'interrupted'],
    [{ signal: 'SIGINT' }, 'interrupted'],
    [{ code: 143 }, 'interrupted'],
    [{ code: 130 }, 'interrupted'],
    [{ signal: 'SIGKILL' }, 'error'],
    [{ code: 1 }, 'error'],
    [undefined, 'error'],
  ])('a crash with exit %o is reported as %s', (exit, type) => {
    const [last] = say(completed({ outcome: 'crashed', exit }))
    expect(last).toMatchObject({ type, outcome: 'crashed' })
  })

  test('an agent that reported an error has failed, however its process ended', () => {
    expect(say(completed({ outcome: 'failed', exit: { code: 143 } }))[0]?.type).toBe('error')
  })

  test('of a prompt that never ran leaves the open turn alone', () => {
    const dropped = completed({ turn: 2, outcome: 'interrupted' })
    expect(say(SAMPLES['turn.queued'], dropped, whole('m1', 'a'), completed())).toEqual([
      { type: 'queued', position: 1 },
      { type: 'interrupted' },
      { type: 'text', content: 'a' },
      result,
    ])
  })

  test('comes with the end of the session at the latest', () => {
    expect(say(SAMPLES['session.ended'], whole('m1', 'late'))).toEqual([
      { type: 'error', message: 'the session ended before the turn did', outcome: 'lost' },
    ])
    expect(say(completed(), SAMPLES['session.ended'])).toEqual([result])
    const cancelled: Event = { type: 'session.ended', reason: 'cancelled' }
    expect(say(cancelled)).toEqual([{ type: 'interrupted' }])
    const error = { code: 'agent_not_ready', message: 'it did not start' } as const
    expect(say({ type: 'session.ended', reason: 'failed', error })).toEqual([
      { type: 'error', ...error, outcome: 'failed' },
    ])
  })

  test('is the end of its exchange, as is being queued', () => {
    const ends = [completed(), completed({ outcome: 'lost' }), completed({ outcome: 'interrupted' })]
    for (const end of [...ends, SAMPLES['turn.queued']]) expect(say(end).map(endsExchange)).toEqual([true])
    expect(say(delta('m1', 'a'), whole('m1', 'a')).some(endsExchange)).toBe(false)
  })
})

test('events outside a turn are not emitted', () => {
  const late: Event[] = [
    whole('m9', 'late'),
    { type: 'tool.started', ...bash },
    SAMPLES['request.opened'],
    hello,
  ]
  expect(sayWith({}, undefined, SAMPLES['session.started'], ...late)).toEqual([])
  expect(say(completed(), ...late)).toEqual([result])
})

test('for any log, every message is valid, and nothing follows the end of the session', () => {
  const event = fc.constantFrom<Event>(...Object.values(SAMPLES), colours, hello, delta('m1', 'a'))
  const options = fc.constantFrom<DialectOptions>({}, { raw: '1', partial_json: '1' })
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), options, (events, option) => {
      for (const message of sayWith(option, '{"a":1}', ...events))
        expect(StreamEvent.safeParse(message).error).toBeUndefined()
      const state = daemon.initial(option)
      for (const entry of entriesOf(...events, SAMPLES['session.ended'])) daemon.project(state, entry)
      expect(daemon.finished(state)).toBe(true)
      expect(entriesOf(...events).flatMap((entry) => daemon.project(state, entry))).toEqual([])
    }),
  )
})
