import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { execute, OutputEvent } from '../../../src/dialects/execute.ts'
import { type Event, exitCodeOf, Outcome } from '../../../src/model/index.ts'
import { SAMPLES } from '../../model/samples.ts'
import { entriesOf, projectAll } from '../entries.ts'

const say = (...events: Event[]) => projectAll(execute, entriesOf(...events))
const completed = (more: Partial<Extract<Event, { type: 'turn.completed' }>> = {}): Event => ({
  ...SAMPLES['turn.completed'],
  durationMs: 1439,
  ...more,
})
const tool = { toolId: 't1', name: 'Bash', kind: 'execute' } as const

test('a session with a tool reads as the documents show it', () => {
  const usage = {
    input: 200,
    output: 50,
    cacheRead: 40,
    cacheWrite: 20,
    total: 310,
    reasoning: 0,
    costUsd: 0.001908,
  }
  const input = { command: 'ls', description: 'run a command' }
  const messages = say(
    SAMPLES['session.started'],
    SAMPLES['turn.started'],
    SAMPLES['session.updated'],
    { type: 'text.delta', messageId: 'm4:0', text: 'I will list files.' },
    { type: 'text.completed', messageId: 'm4:0', text: 'I will list files.' },
    { type: 'tool.input.delta', toolId: 't1', name: 'Bash', delta: '{"command":"ls"' },
    { type: 'tool.started', ...tool, title: 'ls', input },
    { type: 'usage.reported', scope: 'step', input: 100, output: 25, source: 'agent' },
    { type: 'tool.completed', ...tool, status: 'success', output: 'README.md\na.txt' },
    { type: 'text.delta', messageId: 'm5:0', text: 'Listing done.' },
    { type: 'text.completed', messageId: 'm5:0', text: 'Listing done.' },
    { type: 'usage.reported', scope: 'turn', ...usage, source: 'agent' },
    completed({ result: 'Listing done.', usage, exit: { code: 0 } }),
    SAMPLES['session.ended'],
  )
  expect(messages.map((message) => JSON.stringify(message))).toEqual([
    '{"kind":"agent_token","text":"I will list files."}',
    '{"kind":"tool_call","id":"t1","name":"Bash","status":"started","detail":"ls","input":{"command":"ls","description":"run a command"}}',
    '{"kind":"tool_call","id":"t1","name":"Bash","status":"completed"}',
    '{"kind":"tool_result","tool_call_id":"t1","output":"README.md\\na.txt","is_error":false}',
    '{"kind":"agent_token","text":"Listing done."}',
    '{"kind":"usage","input_tokens":200,"output_tokens":50,"cache_read":40,"cache_write":20}',
    '{"kind":"session_end","exit_code":0,"duration_ms":1439}',
  ])
})

describe('text and thinking', () => {
  test('are sent once, in pieces or whole, and a dropped half is not repeated', () => {
    const messages = say(
      { type: 'thinking.delta', messageId: 'm1:0', text: 'Let me ' },
      { type: 'thinking.completed', messageId: 'm1:0', text: 'Let me see.' },
      { type: 'text.delta', messageId: 'm1:1', text: 'Hello fr' },
      { type: 'message.discarded', messageId: 'm1:1', reason: 'stream_broken' },
      { type: 'text.completed', messageId: 'm2:s0', text: 'Hello from me.' },
    )
    expect(messages).toEqual([
      { kind: 'thinking', text: 'Let me ' },
      { kind: 'thinking', text: 'see.' },
      { kind: 'agent_token', text: 'Hello fr' },
      { kind: 'agent_token', text: 'om me.' },
    ])
  })

  test('whose white space is gone when they are whole are not sent again', () => {
    const messages = say(
      { type: 'thinking.delta', messageId: 'm1:0', text: '\nHm.\n' },
      { type: 'thinking.completed', messageId: 'm1:0', text: 'Hm.' },
      { type: 'text.delta', messageId: 'm1:1', text: 'Hello world.' },
      { type: 'text.delta', messageId: 'm1:1', text: '\n' },
      { type: 'text.completed', messageId: 'm1:1', text: 'Hello world.' },
    )
    expect(messages).toEqual([
      { kind: 'thinking', text: '\nHm.\n' },
      { kind: 'agent_token', text: 'Hello world.' },
      { kind: 'agent_token', text: '\n' },
    ])
  })

  test('of a sub-agent stay out, its tools do not', () => {
    const messages = say(
      { type: 'text.delta', messageId: 'c1', text: 'child', parent: 's1' },
      { type: 'text.completed', messageId: 'c1', text: 'child', parent: 's1' },
      { type: 'thinking.completed', messageId: 'c2', text: 'hm', parent: 's1' },
      { type: 'tool.started', ...tool, parent: 's1' },
    )
    expect(messages).toEqual([{ kind: 'tool_call', id: 't1', name: 'Bash', status: 'started' }])
  })
})

describe('a tool', () => {
  test.each([
    [{ status: 'error', output: 'boom', error: 'exit 1' }, 'exit 1', 'boom'],
    [{ status: 'error', error: 'exit 1' }, 'exit 1', 'exit 1'],
    [{ status: 'error', output: '', error: 'exit 1' }, 'exit 1', 'exit 1'],
    [{ status: 'error', output: '' }, undefined, ''],
    [{ status: 'error', blob: { id: 'b', bytes: 9 }, error: 'exit 1' }, 'exit 1', '[9 bytes in blob b]'],
    [{ status: 'error' }, undefined, null],
    [{ status: 'denied' }, 'denied', null],
    [{ status: 'cancelled' }, 'cancelled', null],
  ] as const)('that did not succeed (%o) failed', (result, detail, output) => {
    expect(say({ type: 'tool.completed', ...tool, ...result })).toEqual([
      { kind: 'tool_call', id: 't1', name: 'Bash', status: 'failed', ...(detail && { detail }) },
      { kind: 'tool_result', tool_call_id: 't1', output, is_error: true },
    ])
  })

  test('without a reported end is no failure', () => {
    expect(say({ type: 'tool.completed', ...tool, status: 'unknown' })).toEqual([
      { kind: 'tool_call', id: 't1', name: 'Bash', status: 'completed', detail: 'unknown' },
      { kind: 'tool_result', tool_call_id: 't1', output: null, is_error: false },
    ])
  })

  test('whose output is stored refers to it', () => {
    const blobs = [{ id: 'b1', bytes: 20_000_000 }]
    const event = { type: 'tool.completed', ...tool, status: 'success', output: 'a…' } as const
    const [entry] = entriesOf(event)
    expect(projectAll(execute, entry ? [{ ...entry, blobs }] : [])[1]).toEqual({
      kind: 'tool_result',
      tool_call_id: 't1',
      output: 'a…',
      is_error: false,
      blobs,
    })
  })

  test('with a structured result and no text gives that', () => {
    const [, result] = say({ type: 'tool.completed', ...tool, status: 'success', data: { files: 2 } })
    expect(result).toEqual({ kind: 'tool_result', tool_call_id: 't1', output: { files: 2 }, is_error: false })
  })
})

test('a sub-agent keeps its label to the end', () => {
  const messages = say(
    { type: 'subagent.started', id: 's1', label: 'find usages' },
    { type: 'subagent.progressed', id: 's1' },
    { type: 'subagent.completed', id: 's1', status: 'cancelled' },
  )
  expect(messages).toEqual(
    ['started', 'progress', 'failed'].map((status) => ({
      kind: 'subagent',
      id: 's1',
      status,
      label: 'find usages',
    })),
  )
})

test('hooks are shown, but for those of the session itself', () => {
  const hook = (event: string) => say({ type: 'hook.started', hookId: 'h', name: 'check', event })
  const own = ['SessionStart', 'Stop', 'Notification', 'sessionStart', 'stop', 'notification']
  expect(own.flatMap(hook)).toEqual([])
  expect(hook('PreToolUse')).toEqual([{ kind: 'hook', id: 'h', name: 'check', status: 'started' }])
  const end = { ...SAMPLES['hook.completed'], status: 'blocked' } as const
  expect(say(end)).toEqual([{ kind: 'hook', id: 'h1', name: 'lint', status: 'failed' }])
})

describe('usage', () => {
  const kinds = (...events: Event[]) => say(...events).filter(({ kind }) => kind === 'usage')

  test('that was not reported is omitted', () => {
    expect(kinds(completed())).toEqual([])
    expect(kinds({ type: 'usage.reported', scope: 'step', input: 5, source: 'agent' }, completed())).toEqual(
      [],
    )
    expect(kinds(completed({ usage: { costUsd: 1 } }))).toEqual([])
  })

  test('that is partial is marked', () => {
    const told = { kind: 'usage', input_tokens: 5, output_tokens: 0, cache_read: 0, cache_write: 0 }
    expect(kinds(completed({ usage: { input: 5 } }))).toEqual([{ ...told, usageReported: false }])
  })

  test('is reported once, even if only the terminal event has it', () => {
    const usage = { input: 12, output: 4 }
    const told = { kind: 'usage', input_tokens: 12, output_tokens: 4, cache_read: 0, cache_write: 0 }
    expect(kinds(completed({ usage }))).toEqual([told])
    expect(
      kinds({ type: 'usage.reported', scope: 'turn', ...usage, source: 'agent' }, completed({ usage })),
    ).toEqual([told])
  })
})

test('output outside the protocol of the agent is a stdout line', () => {
  const messages = say(
    { type: 'output.written', stream: 'stdout', line: 'Warning: old' },
    { type: 'native.unmapped', nativeType: 'new', frame: '{"type":"new"}' },
    { type: 'native.unmapped', nativeType: 'oversized', blob: { id: 'b1', bytes: 20_000_000 } },
  )
  expect(messages).toEqual([
    { kind: 'stdout', line: 'Warning: old' },
    { kind: 'stdout', line: '{"type":"new"}' },
    { kind: 'stdout', line: '[20000000 bytes in blob b1]' },
  ])
})

test('a silent agent is reported while the task runs', () => {
  const message = 'no output from claude for 60 s'
  const silent: Event = { type: 'notice.raised', level: 'info', code: 'agent_silent', message }
  expect(say(silent)).toEqual([{ kind: 'notice', code: 'agent_silent', message }])
})

describe('stderr', () => {
  const line = (text: string): Event => ({ type: 'output.written', stream: 'stderr', line: text })

  test('is shown before the end, and only when the end is bad', () => {
    expect(say(line('a'), line('b'), completed())).toEqual([
      { kind: 'session_end', exit_code: 0, duration_ms: 1439 },
    ])
    const failed = completed({ outcome: 'max_steps' })
    expect(say(line('a'), line('b'), failed)).toEqual([
      { kind: 'stderr', line: 'a' },
      { kind: 'stderr', line: 'b' },
      { kind: 'session_end', exit_code: 3, duration_ms: 1439, outcome: 'max_steps' },
    ])
  })

  test('of a noisy agent is bounded, and reports how much was dropped', () => {
    const texts = Array.from({ length: 10_000 }, (_, index) => `${index} ${'x'.repeat(100)}`)
    const [notice, ...rest] = say(...texts.map(line), completed({ outcome: 'interrupted' }))
    const held = rest.filter(({ kind }) => kind === 'stderr')
    const message = `${texts.length - held.length} earlier lines of stderr are only in the log`
    expect(notice).toEqual({ kind: 'notice', code: 'output_truncated', message })
    expect(held.map(({ line }) => line)).toEqual(texts.slice(-held.length))
    expect(JSON.stringify(held).length).toBeLessThan(512 * 1024)
  })
})

describe('the end', () => {
  test.each(Outcome.options)('%s is reported once, last, with its exit code and exact name', (outcome) => {
    const messages = say(completed({ outcome, exit: { code: 7 } }), SAMPLES['session.ended'])
    const errors = messages.filter(({ kind }) => kind === 'error')
    expect(messages.at(-1)).toEqual({
      kind: 'session_end',
      exit_code: exitCodeOf(outcome, { code: 7 }),
      duration_ms: 1439,
      ...(outcome !== 'completed' && { outcome }),
    })
    const explained = ['failed', 'refused', 'crashed', 'timeout', 'lost'].includes(outcome)
    expect(errors).toHaveLength(explained ? 1 : 0)
    expect(messages).toHaveLength(explained ? 2 : 1)
  })

  test('is that of the task, not of a prompt that waited behind it', () => {
    const dropped = completed({ turn: 2, outcome: 'interrupted' })
    const answer: Event = { type: 'text.completed', messageId: 'm1', text: 'the answer' }
    const expected = [
      { kind: 'agent_token', text: 'the answer' },
      { kind: 'session_end', exit_code: 0, duration_ms: 1439 },
    ]
    const { 'turn.started': begun, 'turn.queued': behind } = SAMPLES
    expect(say(begun, behind, dropped, answer, completed())).toEqual(expected)
    const waiting: Event = { ...behind, turn: 1 }
    expect(say(waiting, behind, dropped, begun, answer, completed())).toEqual(expected)
  })

  test('carries the reason that was given', () => {
    const error = { code: 'rate_limited', message: 'slow down' } as const
    expect(say(completed({ outcome: 'failed', error }))[0]).toEqual({
      kind: 'error',
      message: 'slow down',
      code: 'rate_limited',
    })
  })

  test('comes even when the task never became a turn', () => {
    const messages = say(SAMPLES['session.started'], SAMPLES['session.ended'])
    expect(messages.map(({ kind }) => kind)).toEqual(['error', 'session_end'])
    expect(messages[1]?.exit_code).toBe(1)
  })

  test.each([
    ['failed', ['stderr', 'error', 'session_end'], { exit_code: 1, outcome: 'failed' }],
    ['cancelled', ['stderr', 'session_end'], { exit_code: 130, outcome: 'interrupted' }],
    ['timeout', ['stderr', 'error', 'session_end'], { exit_code: 3, outcome: 'timeout' }],
    ['lost', ['stderr', 'error', 'session_end'], { exit_code: 1, outcome: 'lost' }],
    ['completed', ['stderr', 'error', 'session_end'], { exit_code: 1, outcome: 'lost' }],
  ] as const)(
    'of a session (%s) before its turn ended is reported like that of a turn',
    (reason, kinds, end) => {
      const line: Event = { type: 'output.written', stream: 'stderr', line: 'boom' }
      const error = { code: 'agent_not_ready', message: 'it did not start' } as const
      const messages = say(SAMPLES['session.started'], line, { type: 'session.ended', reason, error })
      expect(messages.map(({ kind }) => kind)).toEqual(kinds)
      expect(messages.at(-1)).toEqual({ kind: 'session_end', duration_ms: 0, ...end })
      const told = messages.find(({ kind }) => kind === 'error')
      if (told) expect(told).toEqual({ kind: 'error', ...error })
    },
  )
})

test('for any log, every message is valid, and the only end is the last', () => {
  const event = fc.constantFrom(...Object.values(SAMPLES))
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), (events) => {
      const messages = say(SAMPLES['turn.started'], ...events, completed(), ...events)
      for (const message of messages) expect(OutputEvent.safeParse(message).error).toBeUndefined()
      const kinds = messages.map(({ kind }) => kind)
      expect(kinds.at(-1)).toBe('session_end')
      expect(kinds.filter((kind) => kind === 'session_end')).toHaveLength(1)
    }),
  )
})
