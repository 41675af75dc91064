import { describe, expect, test } from 'vitest'
import type { TurnVerdict } from '../../../src/agents/agent.ts'
import type { Event } from '../../../src/model/index.ts'
import { TurnMachine, type Undecided } from '../../../src/sessions/machine/turn-machine.ts'

const verdict = (more: Partial<TurnVerdict> = {}): TurnVerdict => ({
  type: 'turn.verdict',
  evidence: 'success',
  denials: 0,
  personDenials: 0,
  ...more,
})

function machine(before?: ConstructorParameters<typeof TurnMachine>[2]) {
  return new TurnMachine({ digest: (text) => `digest:${text}` }, {}, before)
}

function opened(turns = machine()): TurnMachine {
  turns.begin(turns.accept(), 0)
  return turns
}

const endOf = (events: readonly Event[]) => events.find(({ type }) => type === 'turn.completed')

describe('the cause of an end', () => {
  test('is the first one', () => {
    const turns = opened()
    turns.setCause('timeout', 'no output for 5 s')
    turns.setCause('interrupt', 'a key was pressed')
    expect(turns.cause).toBe('timeout')
    expect(endOf(turns.abandon(0, { cause: turns.cause }))).toMatchObject({
      outcome: 'timeout',
      error: { message: 'no output for 5 s' },
    })
  })

  test('has the message that came with it, not one of a later cause', () => {
    const turns = opened()
    turns.setCause('timeout')
    turns.setCause('timeout', 'too late')
    const end = endOf(turns.abandon(0, { cause: 'timeout' }))
    expect(end).toMatchObject({ error: { message: 'the turn took longer than it was allowed to' } })
  })

  test('belongs to its turn only', () => {
    const turns = opened()
    turns.setCause('interrupt')
    turns.abandon(0, { cause: 'interrupt' })
    expect(turns.cause).toBe('exit')
    opened(turns)
    expect(endOf(turns.apply(verdict({ result: 'done' }), 0))).toMatchObject({
      turn: 2,
      outcome: 'completed',
    })
  })

  test('is nothing without an open turn', () => {
    const turns = machine()
    turns.setCause('interrupt')
    opened(turns)
    expect(turns.cause).toBe('exit')
  })
})

describe('turn numbers', () => {
  test('continue after those of an earlier owner', () => {
    const turns = machine({ turns: 7, usageSoFar: { input: 3 } })
    expect(turns.accept()).toBe(8)
    expect(turns.usageSoFar).toEqual({ input: 3 })
  })

  test('of a turn that the agent starts are given here, once', () => {
    const turns = machine()
    const started = { type: 'turn.started', origin: 'agent' } as const
    expect(turns.apply(started, 0)).toEqual([{ ...started, turn: 1 }])
    expect(turns.apply(started, 0)).toEqual([])
    expect(turns.turn).toBe(1)
  })
})

test('a prompt that joins needs an open turn', () => {
  const steered = { type: 'turn.steered', prompt: 'left', effect: 'folded' } as const
  expect(machine().apply(steered, 0)).toEqual([])
  expect(opened().apply(steered, 0)).toEqual([{ ...steered, turn: 1 }])
})

test('the digest of a request covers everything that is shown of it', () => {
  const turns = opened()
  const request: Undecided & { type: 'request.opened' } = {
    type: 'request.opened',
    requestId: 'r',
    kind: 'permission',
    blocking: true,
    options: [],
    tool: 'Bash',
    title: 'rm x',
  }
  const digests = [request, { ...request, title: 'rm y' }, { ...request, tool: 'Other' }, request].map(
    (one) => {
      const [event] = turns.apply(one, 0)
      return event?.type === 'request.opened' ? event.inputDigest : undefined
    },
  )
  expect(new Set(digests).size).toBe(3)
  expect(digests[3]).toBe(digests[0])
})

describe('usage', () => {
  test('of the turn comes with its end, and adds to the session', () => {
    const turns = opened()
    expect(turns.apply({ type: 'usage.reported', scope: 'turn', input: 5, source: 'agent' }, 0)).toEqual([])
    const events = turns.apply(verdict({ result: 'done', usage: { input: 5 } }), 0)
    expect(events.map(({ type }) => type)).toEqual(['usage.reported', 'turn.completed'])
    expect(turns.usageSoFar).toEqual({ input: 5 })
  })

  test('of a background sub-agent counts for the session outside of a turn, and inside only with the turn', () => {
    const report = {
      type: 'usage.reported',
      scope: 'subagent',
      subagentId: 'a',
      input: 2,
      source: 'agent',
    } as const
    const turns = opened()
    expect(turns.apply(report, 0)).toEqual([report])
    expect(turns.usageSoFar).toEqual({})
    turns.apply(verdict({ result: 'done' }), 0)
    turns.apply(report, 0)
    expect(turns.usageSoFar).toEqual({ input: 2 })
  })
})

describe('a stop that comes too late', () => {
  test('is a notice beside the completed turn', () => {
    const turns = opened()
    turns.observe({ type: 'text.completed', messageId: 'm', text: 'done' })
    turns.setCause('interrupt')
    const events = turns.apply(verdict({ result: 'done' }), 0)
    expect(events).toMatchObject([
      { type: 'notice.raised', code: 'interrupt_refused', message: expect.stringContaining('(interrupt)') },
      { type: 'turn.completed', outcome: 'completed' },
    ])
  })

  test.each([
    ['text that was cut', { type: 'text.completed', messageId: 'm', text: 'ha', partial: true }],
    [
      'a cancelled call',
      { type: 'tool.completed', toolId: 't', name: 'T', kind: 'read', status: 'cancelled' },
    ],
    [
      'a settled call without a result',
      { type: 'tool.completed', toolId: 't', name: 'T', kind: 'read', status: 'unknown', settled: true },
    ],
    ['a withdrawn request', { type: 'request.withdrawn', requestId: 'r', reason: 'interrupted' }],
  ] as const)('is not too late after %s: the turn was interrupted', (_, event) => {
    const turns = opened()
    turns.setCause('interrupt')
    turns.observe(event)
    expect(turns.apply(verdict({ result: 'done' }), 0)).toMatchObject([
      { type: 'turn.completed', outcome: 'interrupted' },
    ])
  })

  test.each([
    ['of a sub-agent', { type: 'text.completed', messageId: 'm', text: 'ha', partial: true, parent: 'a' }],
    [
      'of a call of a sub-agent',
      { type: 'tool.completed', toolId: 't', name: 'T', kind: 'read', status: 'cancelled', parent: 'a' },
    ],
    ['of a request for another reason', { type: 'request.withdrawn', requestId: 'r', reason: 'turn_ended' }],
    [
      'of a call with an unknown result',
      { type: 'tool.completed', toolId: 't', name: 'T', kind: 'read', status: 'unknown' },
    ],
  ] as const)('stays one after the end %s', (_, event) => {
    const turns = opened()
    turns.observe({ type: 'text.completed', messageId: 'm0', text: 'done' })
    turns.setCause('interrupt')
    turns.observe(event)
    expect(endOf(turns.apply(verdict({ result: 'done' }), 0))).toMatchObject({ outcome: 'completed' })
  })

  test('is none where nothing was answered: an agent may call that a success', () => {
    const turns = opened()
    turns.setCause('interrupt')
    expect(endOf(turns.apply(verdict(), 0))).toMatchObject({ outcome: 'interrupted' })
  })

  test.each([
    ['a model call', { type: 'usage.reported', scope: 'step', source: 'agent' }],
    ['a call', { type: 'tool.started', toolId: 't', name: 'T', kind: 'read' }],
    [
      'its report that nothing runs',
      { type: 'notice.raised', level: 'info', code: 'interrupt_refused', message: '' },
    ],
  ] as const)('is too late after %s', (_, event) => {
    const turns = opened()
    turns.observe(event)
    turns.setCause('interrupt')
    expect(endOf(turns.apply(verdict(), 0))).toMatchObject({ outcome: 'completed' })
  })
})

describe('the duration', () => {
  test('is measured from the beginning, or is the longer one of the agent, and never negative', () => {
    const turns = machine()
    turns.begin(turns.accept(), 100)
    expect(endOf(turns.apply(verdict({ result: 'x', durationMs: 20 }), 150.4))).toMatchObject({
      durationMs: 50,
    })
    turns.begin(turns.accept(), 100)
    expect(endOf(turns.apply(verdict({ result: 'x', durationMs: 80.6 }), 150))).toMatchObject({
      durationMs: 81,
    })
    turns.begin(turns.accept(), 100)
    expect(endOf(turns.apply(verdict({ result: 'x' }), 50))).toMatchObject({ durationMs: 0 })
  })
})

test('the end has the exit of a process that ended, and none of one that never ran', () => {
  const end = (exit: Parameters<TurnMachine['abandon']>[1]) => endOf(opened().abandon(0, exit))
  expect(end({ cause: 'exit', code: 3 })).toMatchObject({ exit: { code: 3 } })
  expect(end({ cause: 'exit', signal: 'SIGKILL' })).toMatchObject({ exit: { signal: 'SIGKILL' } })
  expect(end({ cause: 'exit', error: { code: 'connection_failed', message: 'no' } })).not.toHaveProperty(
    'exit',
  )
})

test('a start that timed out ends the turn with `timeout`, unless we had stopped it for another reason', () => {
  const error = { code: 'timeout', message: 'no handshake' } as const
  expect(endOf(opened().abandon(0, { cause: 'exit', error }))).toMatchObject({ outcome: 'timeout' })
  const turns = opened()
  turns.setCause('interrupt')
  expect(endOf(turns.abandon(0, { cause: 'interrupt', error }))).toMatchObject({ outcome: 'interrupted' })
})

test('the error of a denied turn names the first refusal', () => {
  const turns = opened()
  turns.refused('the policy denies Bash')
  turns.refused('another')
  const end = endOf(turns.apply(verdict({ result: 'could not', denials: 1 }), 0))
  expect(end).toMatchObject({ outcome: 'denied', error: { message: 'the policy denies Bash' } })
})
