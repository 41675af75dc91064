import { describe, expect, test } from 'vitest'
import type { Command, Policy } from '../../../src/model/index.ts'
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

  test('is paused by an interrupt before its turn begins, so that it is not continued later', () => {
    const codec = opened()
    codec.command({ type: 'prompt', text: '/goal all tests pass' })
    expect(written(codec.command({ type: 'interrupt' }))).toMatchObject([
      { method: 'thread/goal/set', params: { threadId: 'thread-1', status: 'paused' } },
    ])
    codec.hear(goal('active'))
    expect(written(codec.hear(notification('turn/started', { turn: { id: 'turn-1' } })))).toMatchObject([
      { method: 'thread/goal/set', params: { status: 'paused' } },
      { method: 'turn/interrupt', params: { turnId: 'turn-1' } },
    ])
  })

  test('whose pause is refused keeps its turn open', () => {
    const codec = opened()
    codec.command({ type: 'prompt', text: '/goal all tests pass' })
    codec.command({ type: 'interrupt' })
    const { emitted } = codec.hear({ id: 'c4', error: { code: -32600, message: 'no pause' } })
    expect(emitted).toMatchObject([{ type: 'notice.raised', code: 'protocol_refused' }])
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

describe('settings of turns that no prompt starts', () => {
  const strict: Policy = { approval: 'ask', sandbox: 'read-only' }
  const readOnly = {
    method: 'thread/settings/update',
    params: { threadId: 'thread-1', approvalPolicy: 'untrusted', sandboxPolicy: { type: 'readOnly' } },
  }
  const active = notification('thread/goal/updated', { goal: { objective: 'x', status: 'active' } })
  const verbs = [
    ['/goal x', 'thread/goal/set'],
    ['/review', 'review/start'],
    ['/compact', 'thread/compact/start'],
  ] as const

  test.each(verbs)('%s waits until the thread has the new policy', (text, method) => {
    const codec = opened()
    codec.command({ type: 'set_policy', policy: strict })
    expect(written(codec.command({ type: 'prompt', text }))).toMatchObject([readOnly])
    expect(written(codec.hear({ id: 'c3', result: {} }))).toMatchObject([{ method }])
  })

  test.each(verbs)('%s fails where the thread refuses them, and the next prompt carries them', (text) => {
    const codec = opened()
    codec.command({ type: 'set_policy', policy: strict })
    codec.command({ type: 'prompt', text })
    const step = codec.hear({ id: 'c3', error: { code: -32601, message: 'unknown method' } })
    expect(step.emitted).toMatchObject([
      { type: 'turn.verdict', evidence: 'error', error: { message: 'unknown method' } },
    ])
    expect(written(step)).toEqual([])
    expect(written(codec.command({ type: 'prompt', text: 'go' }))).toMatchObject([
      { method: 'turn/start', params: { approvalPolicy: 'untrusted', sandboxPolicy: { type: 'readOnly' } } },
    ])
  })

  test.each([
    [{ type: 'set_policy', policy: strict }, readOnly.params],
    [{ type: 'set_model', model: 'gpt-small' }, { model: 'gpt-small' }],
    [{ type: 'set_policy', mode: 'plan' }, { collaborationMode: { mode: 'plan' } }],
  ] satisfies [Command, object][])('%j reaches the next turn of an active goal', (command, params) => {
    const codec = inTurn()
    codec.hear(active)
    const step = codec.command(command)
    expect(step.applies).toBe('next_turn')
    expect(written(step)).toMatchObject([{ method: 'thread/settings/update', params }])
    // Nothing is left for the next prompt.
    codec.hear(turnCompleted())
    expect(written(codec.command({ type: 'prompt', text: 'go' }))).not.toMatchObject([{ params }])
  })

  test('pause the goal where the thread refuses them', () => {
    const codec = inTurn()
    codec.hear(active)
    codec.command({ type: 'set_policy', policy: strict })
    const step = codec.hear({ id: 'c4', error: { code: -32601, message: 'unknown method' } })
    expect(written(step)).toMatchObject([{ method: 'thread/goal/set', params: { status: 'paused' } }])
    expect(step.emitted).toMatchObject([{ type: 'notice.raised', code: 'protocol_refused' }])
  })

  test('pause the goal where only another process has them', () => {
    const codec = inTurn()
    codec.hear(active)
    const step = codec.command({ type: 'set_policy', policy: { ...strict, tools: { denied: ['execute'] } } })
    expect(step.applies).toBe('next_process')
    expect(written(step)).toMatchObject([{ method: 'thread/goal/set', params: { status: 'paused' } }])
  })

  test('include the effort, which no thread is opened with', () => {
    const codec = opened({ options: { effort: 'high' } })
    expect(written(codec.command({ type: 'prompt', text: '/review' }))).toMatchObject([
      { method: 'thread/settings/update', params: { effort: 'high' } },
    ])
  })
})
