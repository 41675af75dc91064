import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Message } from '../../../src/dialects/dialect.ts'
import { AgentEvent } from '../../../src/dialects/ues/ues-event.ts'
import { ues } from '../../../src/dialects/ues.ts'
import { type Event, FACES, Outcome } from '../../../src/model/index.ts'
import { SAMPLES } from '../../model/samples.ts'
import { entriesOf } from '../entries.ts'
import { begun, completed, hello, say, sayWith, started, typesOf } from './ues-scene.ts'

describe('facts without a place in the nine types', () => {
  test.each<[Event, string, object]>([
    [{ ...SAMPLES['file.changed'], toolId: 't1' }, 'file_change', { path: 'a.ts', toolUseId: 't1' }],
    [SAMPLES['plan.updated'], 'plan_update', { items: [] }],
    [SAMPLES['subagent.started'], 'subagent', { id: 's1', label: 'search', status: 'started' }],
    [SAMPLES['subagent.progressed'], 'subagent', { id: 's1', status: 'progress' }],
    [SAMPLES['subagent.completed'], 'subagent', { id: 's1', status: 'success' }],
    [SAMPLES['hook.started'], 'hook', { hookId: 'h1', event: 'PreToolUse', status: 'started' }],
    [SAMPLES['hook.completed'], 'hook', { hookId: 'h1', status: 'success' }],
    [{ ...SAMPLES['tool.updated'], title: 'ls' }, 'tool_update', { toolUseId: 't1', title: 'ls' }],
    [{ ...SAMPLES['tool.progressed'], output: 'a' }, 'tool_progress', { toolUseId: 't1', output: 'a' }],
    [SAMPLES['context.compacted'], 'context_compacted', {}],
    [{ ...SAMPLES['usage.reported'], scope: 'step', input: 5 }, 'usage', { scope: 'step', input: 5 }],
    [
      { type: 'limit.reported', kind: 'rate', usedPercent: 12, resetsAt: 1_800_000_000_000 },
      'rate_limit',
      { usedPercent: 12, resetsAt: '2027-01-15T08:00:00.000Z' },
    ],
  ])('%o is in the namespace of its agent', (event, name, payload) => {
    expect(say(event)).toMatchObject([{ type: `claude-code:${name}`, payload }])
  })

  test('is in ours, where the fact is ours', () => {
    expect(say(SAMPLES['turn.steered'], SAMPLES['notice.raised'])).toEqual([
      { type: 'mainstem:steered', payload: { turn: 1, prompt: 'rather that', effect: 'folded' } },
      { type: 'mainstem:notice', payload: { level: 'info', code: 'agent_warning', message: 'slow' } },
    ])
  })

  test('names agents by their own ids', () => {
    const [init, plan] = sayWith(
      {},
      { ...started, agent: 'codex' },
      SAMPLES['turn.started'],
      SAMPLES['plan.updated'],
    )
    expect([init?.agent, plan?.type]).toEqual(['codex', 'codex:plan_update'])
  })

  test.each([
    'thinking.delta',
    'tool.input.delta',
    'output.written',
    'native.unmapped',
    'turn.queued',
  ] as const)('leaves out %s', (type) => {
    expect(say(SAMPLES[type])).toEqual([])
  })
})

describe('a failure that ends nothing is a recoverable error', () => {
  test.each<[Event, string, string]>([
    [{ type: 'limit.reported', kind: 'retry', status: 529, message: 'busy' }, 'connection_failed', 'busy'],
    [{ type: 'limit.reported', kind: 'retry', status: 429 }, 'rate_limited', 'the agent is retrying'],
    [{ type: 'limit.reported', kind: 'retry', status: 401, message: 'key' }, 'authentication_failed', 'key'],
    [{ type: 'limit.reported', kind: 'retry', status: 400, message: 'bad' }, 'invalid_request', 'bad'],
    [{ type: 'limit.reported', kind: 'retry', status: 418, message: 'tea' }, 'connection_failed', 'tea'],
    [{ type: 'limit.reported', kind: 'retry', message: 'reset' }, 'connection_failed', 'reset'],
    [{ type: 'limit.reported', kind: 'rate', usedPercent: 100, message: 'full' }, 'rate_limited', 'full'],
    [{ type: 'limit.reported', kind: 'quota' }, 'quota_exceeded', 'the account limit is reached'],
    [{ type: 'notice.raised', level: 'warning', code: 'tool_refused', message: 'no' }, 'tool_refused', 'no'],
  ])('%o', (event, code, message) => {
    expect(say(event)).toMatchObject([{ type: 'error', payload: { code, message, recoverable: true } }])
  })

  test('an error notice, unless the end of its turn repeats it', () => {
    const notice: Event = { type: 'notice.raised', level: 'error', code: 'agent_error', message: '500' }
    const payload = { code: 'agent_error', message: '500', recoverable: true }
    const failed = completed({ outcome: 'failed', error: { code: 'connection_failed', message: 'HTTP 500' } })
    expect(say(notice, SAMPLES['text.delta'])[0]).toMatchObject({ type: 'error', payload })
    expect(say(notice, completed())).toMatchObject([{ type: 'error', payload }, { type: 'done' }])
    expect(say(notice, failed)).toMatchObject([
      { type: 'error', payload: { message: 'HTTP 500', recoverable: false } },
      { type: 'done' },
    ])
  })

  test('and keeps its figures', () => {
    const [retry] = say({ type: 'limit.reported', kind: 'retry', attempt: 2, of: 10, delayMs: 500 })
    expect(retry?.metadata).toEqual({ kind: 'retry', attempt: 2, of: 10, delayMs: 500 })
  })
})

describe('done', () => {
  const explained = ['denied', 'refused', 'timeout', 'failed', 'crashed', 'lost']

  test.each(Outcome.options)('%s is reported once and last, with its exact name', (outcome) => {
    const messages = say(completed({ outcome }), completed({ outcome }))
    expect(messages.at(-1)).toMatchObject({
      type: 'done',
      payload: { status: FACES[outcome].ues },
      metadata: { outcome },
    })
    expect(typesOf(messages)).toEqual(explained.includes(outcome) ? ['error', 'done'] : ['done'])
  })

  test('gives the reason, and is not recoverable', () => {
    const error = { code: 'rate_limited', message: 'slow down' } as const
    expect(say(completed({ outcome: 'failed', error }))[0]?.payload).toEqual({
      ...error,
      recoverable: false,
    })
    expect(say(completed({ outcome: 'refused' }))[0]?.payload).toEqual({
      code: 'refused',
      message: 'the model declined the task',
      recoverable: false,
    })
  })

  test('does not present missing counts as counts', () => {
    const usageOf = (...events: Event[]) => say(...events).at(-1)?.payload
    const zeros = { inputTokens: 0, outputTokens: 0, toolUses: 0, usageReported: false }
    expect(usageOf(completed())).toMatchObject({ usage: zeros })
    expect(usageOf(completed({ usage: { output: 4 } }))).toMatchObject({
      usage: { outputTokens: 4, usageReported: false },
    })
    expect(usageOf(completed({ usage: { input: 3, output: 4 } }))).toEqual({
      status: 'success',
      usage: { inputTokens: 3, outputTokens: 4, toolUses: 0 },
      durationMs: 1439,
    })
  })

  test('has the structured answer where there is one', () => {
    expect(say(completed({ structured: { a: 1 } }))[0]?.metadata).toEqual({
      outcome: 'completed',
      structured: { a: 1 },
    })
  })

  test('comes even when the prompt never became a turn, or the turn never ended', () => {
    const ended = { ...SAMPLES['session.ended'], error: { code: 'timeout', message: 'too slow' } } as const
    const never = sayWith({}, started, ended)
    expect(typesOf(never)).toEqual(['init', 'error', 'done'])
    expect(never[1]?.payload).toEqual({ code: 'timeout', message: 'too slow', recoverable: false })
    const open = sayWith({}, ...begun, hello, SAMPLES['session.ended'], completed())
    expect(typesOf(open)).toEqual(['init', 'error', 'done'])
    expect(open[1]?.payload).toMatchObject({ code: 'lost' })
    expect(open[2]).toMatchObject({
      payload: { status: 'error', durationMs: 2 },
      metadata: { outcome: 'lost' },
    })
    expect(say(completed(), SAMPLES['session.ended'])).toHaveLength(1)
  })

  test.each([
    ['failed', 'failed', ['init', 'error', 'done']],
    ['cancelled', 'interrupted', ['init', 'done']],
    ['timeout', 'timeout', ['init', 'error', 'done']],
    ['lost', 'lost', ['init', 'error', 'done']],
    ['completed', 'lost', ['init', 'error', 'done']],
  ] as const)('of a session (%s) that ended before its turn did is %s', (reason, outcome, types) => {
    for (const events of [[started], begun]) {
      const messages = sayWith({}, ...events, { type: 'session.ended', reason })
      expect(typesOf(messages)).toEqual(types)
      const status = FACES[outcome].ues
      expect(messages.at(-1)).toMatchObject({ payload: { status }, metadata: { outcome } })
    }
  })
})

/** What is not inside `init` … `done`. */
function stray(messages: readonly Message[]): unknown[] {
  let open = false
  return messages.flatMap(({ type }) => {
    const wrong = (type === 'init') === open
    open = type !== 'done'
    return wrong ? [type] : []
  })
}

test('for any log, every message is valid and inside a run', () => {
  const event = fc.constantFrom(...Object.values(SAMPLES), hello, completed({ turn: 2 }))
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), (events) => {
      const state = ues.initial({})
      const messages = entriesOf(...events, SAMPLES['session.ended'], ...events).flatMap((entry) =>
        ues.project(state, entry),
      )
      for (const message of messages) expect(AgentEvent.safeParse(message).error).toBeUndefined()
      expect(stray(messages)).toEqual([])
      expect(messages.at(-1)?.type).toBe('done')
      expect(ues.finished(state)).toBe(true)
    }),
  )
})
