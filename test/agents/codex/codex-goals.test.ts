import { describe, expect, test } from 'vitest'
import { inTurn, notification, opened, turnCompleted, wire, written } from './codex-wire.ts'

describe('a goal', () => {
  const goal = (status: string) =>
    notification('thread/goal/updated', { goal: { objective: 'all tests pass', status, tokensUsed: 120 } })

  test('is set by a call, and Codex starts the turn', () => {
    const codec = opened()
    expect(written(codec.command({ type: 'prompt', text: '/goal all tests pass' }))).toMatchObject([
      {
        method: 'thread/goal/set',
        params: { threadId: 'thread-1', objective: 'all tests pass', status: 'active' },
      },
    ])
    codec.hear({ id: 'c3', result: { goal: {} } })
    codec.hear(notification('turn/started', { turn: { id: 'turn-1' } }))
    const { emitted } = codec.hear(turnCompleted())
    expect(emitted).toContainEqual(expect.objectContaining({ type: 'turn.verdict', evidence: 'success' }))
    // Codex continues by itself until the goal is reached.
    const next = codec.hear(notification('turn/started', { turn: { id: 'turn-2' } }))
    expect(next.emitted).toEqual([{ type: 'turn.started', origin: 'agent' }])
  })

  test('is paused by an interrupt, because the next turn would begin at once', () => {
    const codec = inTurn()
    codec.hear(goal('active'))
    expect(written(codec.command({ type: 'interrupt' }))).toMatchObject([
      { method: 'thread/goal/set', params: { threadId: 'thread-1', status: 'paused' } },
      { method: 'turn/interrupt' },
    ])
  })

  test('is reported when its status changes, and not with each count of tokens', () => {
    const codec = inTurn()
    const said = [goal('active'), goal('active'), goal('complete')].flatMap((one) => codec.hear(one).emitted)
    expect(said).toMatchObject([
      { code: 'goal_changed', message: 'The goal is active, 120 tokens used: all tests pass' },
      { code: 'goal_changed', message: 'The goal is complete, 120 tokens used: all tests pass' },
    ])
  })

  test.each([
    ['/goal', 'thread/goal/get', { goal: null }, 'There is no goal.'],
    ['/goal clear', 'thread/goal/clear', { cleared: true }, 'The goal is cleared.'],
  ])('%s is answered without a model', (text, method, result, answer) => {
    const codec = opened()
    expect(written(codec.command({ type: 'prompt', text }))).toMatchObject([{ method }])
    expect(codec.hear({ id: 'c3', result }).emitted).toMatchObject([
      { type: 'turn.verdict', evidence: 'success', result: answer },
    ])
  })

  test('that Codex refuses fails its turn', () => {
    const codec = opened()
    codec.command({ type: 'prompt', text: '/goal x' })
    expect(codec.hear({ id: 'c3', error: { code: -32600, message: 'no goals' } }).emitted).toMatchObject([
      { type: 'turn.verdict', evidence: 'error', error: { message: 'no goals' } },
    ])
  })
})

test('skills are passed before the thread is opened', () => {
  const codec = wire('live', { options: { skills: ['/s/one'] } })
  codec.command({ type: 'open' })
  expect(written(codec.hear({ id: 'c1', result: {} }))).toMatchObject([
    { method: 'initialized' },
    { method: 'skills/extraRoots/set', params: { extraRoots: ['/s/one'] } },
    { method: 'thread/start' },
  ])
})
