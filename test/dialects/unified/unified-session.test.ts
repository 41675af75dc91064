import { describe, expect, test } from 'vitest'
import { unified } from '../../../src/dialects/unified.ts'
import { type Event, FACES, Outcome } from '../../../src/model/index.ts'
import { SAMPLES } from '../../model/samples.ts'
import { entriesOf } from '../entries.ts'
import { completed, read, say, started, turn, types } from './unified-say.ts'

const tool = { toolId: 't1', name: 'Bash', kind: 'execute' } as const

describe('the end of a turn', () => {
  const EXPECTED: Record<Outcome, string[]> = {
    completed: ['turnCompleted', 'sessionEnded'],
    denied: ['turnFailed', 'sessionEnded'],
    refused: ['turnFailed', 'sessionEnded'],
    max_steps: ['turnFailed', 'sessionEnded'],
    max_budget: ['turnFailed', 'sessionEnded'],
    timeout: ['turnFailed', 'sessionEnded'],
    interrupted: ['sessionEnded'],
    failed: ['turnFailed', 'sessionEnded'],
    crashed: ['turnFailed', 'sessionEnded'],
    lost: ['turnFailed', 'sessionEnded'],
  }

  test.each(Outcome.options)('%s is reported with its message and exact name', (outcome) => {
    const messages = say(completed({ outcome }))
    expect(types(messages)).toEqual(EXPECTED[outcome])
    expect(messages.at(-1)).toMatchObject({
      reason: FACES[outcome].unified,
      ...(outcome !== 'completed' && { outcome }),
    })
    expect('outcome' in (messages.at(-1) ?? {})).toBe(outcome !== 'completed')
  })

  test('carries the reason that was given, and what it cost', () => {
    const error = { code: 'rate_limited', message: 'slow down', native: { status: 429 } } as const
    const messages = say(
      completed({ outcome: 'failed', error, usage: { input: 5, output: 0 }, durationMs: 9 }),
    )
    expect(messages).toEqual([
      {
        type: 'turnFailed',
        turnNumber: 1,
        error: 'slow down',
        code: 'rateLimited',
        nativeError: '{"status":429}',
        outcome: 'failed',
        usage: { inputTokens: 5, outputTokens: 0, totalTokens: 5 },
        durationMs: 9,
      },
      { type: 'sessionEnded', reason: 'failed', error: 'slow down', outcome: 'failed' },
    ])
  })

  test.each([undefined, {}, { output: 4 }, { costUsd: 1 }])('usage %o is marked as not reported', (usage) => {
    const [end] = say(completed(usage && { usage }))
    const outputTokens = usage?.output ?? 0
    expect(end).toMatchObject({
      usage: { inputTokens: 0, outputTokens, totalTokens: outputTokens },
      usageReported: false,
    })
    expect(say(completed({ outcome: 'denied', ...(usage && { usage }) }))[0]).not.toHaveProperty('usage')
  })
})

describe('usage reported before the end', () => {
  const usage = { input: 5, output: 2, total: 7 }
  const told = { inputTokens: 5, outputTokens: 2, totalTokens: 7 }
  const reported: Event = { type: 'usage.reported', scope: 'turn', ...usage, source: 'agent' }

  test.each([
    ['completed', 'turnCompleted'],
    ['max_steps', 'turnFailed'],
  ] as const)('is that of the turn (%s)', (outcome, type) => {
    const [, end] = say(reported, completed({ outcome }))
    expect(end).toMatchObject({ type, usage: told })
    expect(end).not.toHaveProperty('usageReported')
    expect(say(reported, completed({ outcome, usage: { input: 1, output: 1 } }))[1]).toMatchObject({
      usage: { inputTokens: 1 },
    })
  })

  test('is no part of another turn, nor is that of one step', () => {
    const dropped = completed({ turn: 2, outcome: 'interrupted' })
    expect(say(SAMPLES['turn.queued'], reported, dropped)[1]).not.toHaveProperty('usage')
    expect(say(reported, completed(), turn(2), completed({ turn: 2 })).at(-2)).toMatchObject({
      usageReported: false,
    })
    const step: Event = { type: 'usage.reported', scope: 'step', ...usage, source: 'agent' }
    expect(say(step, completed())[1]).toMatchObject({ usageReported: false })
  })

  test('adds up, with any part of it unknown', () => {
    expect(say(completed({ usage: { output: 5, total: 15 } }))[0]).toMatchObject({
      usage: { inputTokens: 0, outputTokens: 5, totalTokens: 5 },
      usageReported: false,
    })
  })
})

describe('a session', () => {
  const queued = (number: number): Event => ({ ...SAMPLES['turn.queued'], turn: number })

  test('continues while a prompt is queued, and ends with the last turn', () => {
    const messages = say(queued(2), completed({ outcome: 'failed' }), turn(2), completed({ turn: 2 }))
    expect(types(messages)).toEqual(['turnFailed', 'turnStarted', 'turnCompleted', 'sessionEnded'])
  })

  test('that continues after its end reports the current policy', () => {
    const policy = { approval: 'auto-all', sandbox: 'full-access' } as const
    const changed: Event = { type: 'session.updated', policy }
    const config = { approvalMode: 'autoAll', sandboxMode: 'fullAccess' }
    for (const events of [
      [changed, completed(), turn(2)],
      [completed(), changed, turn(2)],
    ]) {
      expect(say(...events)).toContainEqual(
        expect.objectContaining({ type: 'sessionStarted', config: expect.objectContaining(config) }),
      )
    }
  })

  test('reports an interrupted turn where its own end does not', () => {
    const messages = say(queued(2), completed({ outcome: 'interrupted' }), turn(2), completed({ turn: 2 }))
    expect(messages[0]).toMatchObject({ type: 'turnFailed', turnNumber: 1, outcome: 'interrupted' })
    expect(messages.at(-1)).toEqual({ type: 'sessionEnded', reason: 'completed' })
  })

  test('reports a dropped prompt, and ends with the running turn', () => {
    const messages = say(
      queued(2),
      completed({ turn: 2, outcome: 'interrupted' }),
      completed({ outcome: 'interrupted' }),
      { type: 'session.ended', reason: 'completed' },
    )
    expect(messages).toEqual([
      {
        type: 'turnFailed',
        turnNumber: 2,
        error: 'the turn was interrupted',
        outcome: 'interrupted',
        durationMs: 0,
      },
      { type: 'sessionEnded', reason: 'cancelled', outcome: 'interrupted' },
    ])
  })

  test.each([
    ['a turn', [turn(2)], ['sessionStarted', 'turnStarted']],
    ['a prompt that waits', [queued(2), turn(2)], ['sessionStarted', 'turnStarted']],
    [
      'a prompt that waits and is dropped',
      [queued(2), completed({ turn: 2, outcome: 'interrupted' })],
      ['sessionStarted', 'sessionEnded'],
    ],
  ] as const)('that had ended starts again with %s', (_, events, expected) => {
    const messages = say(completed(), ...events)
    expect(types(messages.slice(2))).toEqual(expected)
    expect(messages[2]).toEqual(read(started)[0])
  })

  test('emits nothing between its end and its next start', () => {
    const between: Event[] = [
      { type: 'tool.started', ...tool, parent: 's1' },
      { type: 'notice.raised', level: 'error', code: 'agent_error', message: 'late' },
    ]
    const after = say(completed(), ...between, turn(2), {
      type: 'tool.completed',
      ...tool,
      status: 'success',
    })
    expect(types(after)).toEqual(['turnCompleted', 'sessionEnded', 'sessionStarted', 'turnStarted'])
  })

  test.each([
    ['completed', { reason: 'completed' }],
    ['failed', { reason: 'failed', outcome: 'failed' }],
    ['cancelled', { reason: 'cancelled', outcome: 'interrupted' }],
    ['timeout', { reason: 'timeout', outcome: 'timeout' }],
    ['lost', { reason: 'failed', outcome: 'lost' }],
  ] as const)('that ends (%s) before any turn ended reports it', (reason, end) => {
    const error = { code: 'agent_not_ready', message: 'gone' } as const
    const ended = { type: 'sessionEnded', ...end }
    expect(read(started, { type: 'session.ended', reason })[1]).toEqual(ended)
    const [, ...messages] = read(started, { type: 'session.ended', reason, error })
    expect(messages).toEqual([{ ...ended, error: 'gone', code: 'agentNotReady' }])
  })

  test('is finished with the end of its log, not before, and then silent', () => {
    const state = unified.initial({})
    const seen = entriesOf(started, turn(1), completed(), SAMPLES['session.ended'], turn(2)).map((entry) => {
      const said = unified.project(state, entry).length
      return [said, unified.finished(state)]
    })
    expect(seen).toEqual([
      [1, false],
      [1, false],
      [2, false],
      [0, true],
      [0, true],
    ])
  })
})
