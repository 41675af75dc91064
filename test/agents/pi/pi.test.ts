import { describe, expect, test } from 'vitest'
import type { Event } from '../../../src/model/index.ts'
import { decodeFixture, type Fixture, fixtures } from '../fixtures.ts'
import { Native } from '../native/pi.ts'
import { answered, call, emitted, returned, runningTalk, settled, Talk } from './pi-talk.ts'

const recordings = fixtures.filter(({ program }) => program === 'pi')

function recording(scenario: string): Fixture {
  const found = recordings.find((fixture) => fixture.scenario === scenario)
  if (!found) throw new Error(`no recording of ${scenario}`)
  return found
}

const eventsOf = (scenario: string) => decodeFixture(recording(scenario)).entries.map(({ event }) => event)

function only<T extends Event['type']>(scenario: string, type: T): Extract<Event, { type: T }>[] {
  return eventsOf(scenario).filter((event): event is Extract<Event, { type: T }> => event.type === type)
}

function nativesOf({ lines }: Fixture): unknown[] {
  return lines.flatMap((line) => {
    if (!line.startsWith('{')) return []
    const value = JSON.parse(line)
    if (value.dir === undefined) return [value]
    return value.dir === 'out' ? [value.msg] : []
  })
}

describe('the recordings', () => {
  test('there are as many as were taken', () => {
    expect(recordings.length).toBe(77)
  })

  test.each(recordings)('$scenario has the shape that its schema describes', (fixture) => {
    for (const native of nativesOf(fixture)) Native.parse(native)
  })

  test.each([
    ['err401', 'failed', 'authentication_failed'],
    ['err403', 'failed', 'authentication_failed'],
    ['err404', 'failed', 'invalid_request'],
    ['err429', 'failed', 'rate_limited'],
    ['err500', 'failed', 'connection_failed'],
    ['err529', 'failed', 'connection_failed'],
    ['drop', 'failed', 'connection_failed'],
    ['garble', 'failed', 'connection_failed'],
    ['length', 'failed', 'output_truncated'],
    ['refusal', 'refused', 'invalid_request'],
    ['no_key', 'failed', 'authentication_failed'],
    ['bad_model', 'failed', 'invalid_request'],
    ['bad_flag', 'failed', 'unsupported_option'],
    ['bad_session', 'failed', 'session_not_found'],
    ['resume_3_elsewhere', 'failed', 'session_not_found'],
    ['read_only', 'denied', 'permission_denied'],
    ['empty_prompt', 'crashed', 'protocol_error'],
    ['sigterm_text', 'crashed', 'protocol_error'],
    ['live_killed', 'crashed', 'protocol_error'],
  ])('%s ends as %s with %s', (scenario, outcome, code) => {
    const end = only(scenario, 'turn.completed').at(-1)
    expect([end?.outcome, end?.error?.code]).toEqual([outcome, code])
  })

  test('the exit code is 0 even when the model failed, and that is not success', () => {
    expect(recording('err401').exit.code).toBe(0)
    expect(only('err401', 'turn.completed')).toMatchObject([{ outcome: 'failed' }])
  })

  test('a message that a broken stream took back is discarded with its draft, and repeated', () => {
    const discarded = only('drop_tool', 'message.discarded').map(({ messageId }) => messageId)
    const texts = only('drop_tool', 'text.completed').map(({ text }) => text)
    expect(discarded).toHaveLength(2)
    expect(texts).toEqual(['Let me run it.', 'It ran once.'])
    expect(only('drop_tool', 'tool.started')).toHaveLength(1)
  })

  test('text before an interrupt is kept, and marked as partial', () => {
    expect(only('live_interrupt_text', 'text.completed')[0]).toMatchObject({
      text: 'word0 word1 word',
      partial: true,
    })
  })

  test('each retry is a limit with its attempt and its status', () => {
    expect(only('err429', 'limit.reported')).toMatchObject([
      { kind: 'retry', attempt: 1, of: 2, delayMs: 20, status: 429 },
      { kind: 'retry', attempt: 2, of: 2, delayMs: 40, status: 429 },
    ])
  })

  test('an edit shows its diff and a new file its content', () => {
    expect(only('files', 'file.changed')).toMatchObject([
      { path: 'hello.txt', after: 'alpha\nbeta\n' },
      { path: 'hello.txt', diff: expect.stringContaining('-beta\n+gamma') },
    ])
    expect(only('edit_fails', 'file.changed')).toEqual([])
  })

  test('an output that was cut for the model is whole in the log', () => {
    const [end] = only('big_output', 'tool.completed')
    expect(end?.output?.split('\n')).toHaveLength(2101)
    expect(end?.data).toMatchObject({
      truncation: { truncated: true },
      shown: expect.stringMatching(/^101\n/),
    })
  })

  test('progress is emitted as deltas, never twice', () => {
    const pieces = only('slow_output', 'tool.progressed').map(({ output }) => output)
    expect(pieces.join('')).toBe('line 1\nline 2\nline 3\n')
    expect(pieces.length).toBeGreaterThan(1)
  })

  test('prompts that join a turn are reported in the order in which the model receives them', () => {
    expect(only('live_follow_up', 'turn.steered').map(({ prompt }) => prompt)).toEqual([
      'Be short.',
      'And then say goodbye.',
    ])
    expect(only('live_steer_interrupted', 'turn.steered')).toEqual([])
  })

  test('a turn that an extension starts belongs to the agent', () => {
    expect(only('live_own_turn', 'turn.started').map(({ origin }) => origin)).toEqual(['prompt', 'agent'])
  })

  test('the handshake reports session, model, models, tools and commands', () => {
    const told = Object.assign({}, ...only('live_text', 'session.updated'))
    expect(told).toMatchObject({
      nativeSessionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      model: 'scripted/scripted-model',
      tools: ['read', 'bash', 'edit', 'write'],
      commands: ['llama', 'mcp'],
    })
    expect(told.models).toHaveLength(3)
  })

  test('every call is requested with its subject where the gate is active', () => {
    expect(only('live_permission_allowed', 'request.opened')).toMatchObject([
      { kind: 'permission', tool: 'bash', toolKind: 'execute', input: { command: 'echo one' } },
      { kind: 'permission', tool: 'bash', toolKind: 'execute', input: { command: 'echo two' } },
    ])
    expect(only('live_permission_denied', 'tool.completed')).toMatchObject([
      { status: 'denied', deniedBy: 'person', error: 'Not now.' },
    ])
    expect(only('live_permission_rewritten', 'tool.completed')).toMatchObject([{ output: 'rewritten\n' }])
  })

  test('a compaction reports how much it kept', () => {
    expect(only('live_compact', 'context.compacted')).toEqual([
      { type: 'context.compacted', before: 120, after: 802, trigger: 'manual' },
    ])
  })
})

describe('a call', () => {
  test('that an extension blocked was denied by a hook', () => {
    const talk = runningTalk()
    talk.hear(returned('t1', 'Not today', { isError: true, durationMs: undefined }))
    expect(talk.only('tool.completed')).toMatchObject([{ status: 'denied', deniedBy: 'hook' }])
  })

  test('with a reused id gets a new id', () => {
    const talk = runningTalk()
    talk.hear(returned('t1', 'one'), call('t1'), returned('t1', 'two'))
    expect(talk.only('tool.completed').map(({ toolId, output }) => [toolId, output])).toEqual([
      ['t1', 'one'],
      ['t1~2', 'two'],
    ])
  })

  test('whose output was truncated repeats no delta', () => {
    const talk = runningTalk()
    const progress = (text: string) => ({
      ...call('t1'),
      type: 'tool_execution_update',
      partialResult: { content: [{ type: 'text', text }] },
    })
    talk.hear(progress('a\n'), progress('a\nb\n'), progress('x\ny\n'), progress('x\ny\nz\n'))
    expect(talk.only('tool.progressed').map(({ output }) => output)).toEqual(['a\n', 'b\n', 'z\n'])
  })
})

test('a retry that was called off leaves an interrupted turn', () => {
  expect(only('live_interrupt_retry', 'turn.completed')).toMatchObject([{ outcome: 'interrupted' }])
})

test('figures of a compaction inside a turn count for it', () => {
  const talk = runningTalk()
  const usage = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: 3, cost: { total: 0.5 } }
  talk.hear(returned('t1', 'x'), ...emitted('ok', { usage }), {
    type: 'compaction_end',
    reason: 'threshold',
    result: { tokensBefore: 9, usage },
    aborted: false,
  })
  talk.hear(settled(), answered('abort', 'x'))
  expect(talk.only('turn.completed')).toMatchObject([
    { usage: { input: 2, output: 4, total: 6, costUsd: 1 } },
  ])
})

describe('/compact', () => {
  const refusal = {
    id: 'c1',
    type: 'response',
    command: 'compact',
    success: false,
    error: 'Nothing to compact',
  }

  test('is a native command, whose response ends the turn', () => {
    const talk = new Talk()
    expect(talk.prompt('/compact')).toEqual([{ id: 'c1', type: 'compact' }])
    talk.hear({ id: 'c1', type: 'response', command: 'compact', success: true, data: {} })
    expect(talk.only('turn.completed')).toMatchObject([{ outcome: 'completed' }])
  })

  test('that pi refuses fails its turn, with the words of pi', () => {
    const talk = new Talk()
    talk.prompt('/compact')
    talk.hear(refusal)
    const error = { message: 'Nothing to compact' }
    expect(talk.only('turn.completed')).toMatchObject([{ outcome: 'failed', error }])
  })

  test('that is interrupted is no failure', () => {
    const talk = new Talk()
    talk.prompt('/compact')
    talk.conversation.setCause('interrupt')
    talk.tell({ type: 'interrupt' })
    talk.hear(refusal)
    expect(talk.only('turn.completed')).toMatchObject([{ outcome: 'interrupted' }])
  })
})
