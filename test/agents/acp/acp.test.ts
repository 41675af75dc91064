import { describe, expect, test } from 'vitest'
import { Entry } from '../../../src/model/index.ts'
import { decodeFixture, decodeLines } from '../fixtures.ts'
import { NativeMessage } from '../native/acp.ts'
import { asks, chunk, eventsIn, eventsOf, failure, recordings, result, Talk, update } from './acp-talk.ts'

test('every program that was recorded is here', () => {
  expect(recordings.length).toBe(228)
  expect(new Set(recordings.map(({ program }) => program)).size).toBe(13)
})

test.each(recordings)('$name decodes without a frame left over, into valid entries', (one) => {
  const { entries, coverage } = decodeFixture(one)
  const { frames, mapped, malformed, unmapped, oversized } = coverage
  expect({ unmapped, malformed, oversized, left: frames - mapped }).toEqual({
    unmapped: 0,
    malformed: 0,
    oversized: 0,
    left: 0,
  })
  for (const entry of entries) expect(Entry.safeParse(entry).error).toBeUndefined()
})

test.each(recordings)('$name has the native shapes that are written drecordings', ({ lines }) => {
  for (const line of lines) {
    const parsed: unknown = JSON.parse(line)
    const { dir, msg } = Object(parsed)
    if (dir !== 'in') expect(NativeMessage.safeParse(msg ?? parsed).error).toBeUndefined()
  }
})

describe('failures reported as text', () => {
  test.each([
    ['acp-copilot/err401', 'authentication_failed'],
    ['acp-copilot/drop', 'connection_failed'],
    ['acp-codex2/drop', 'connection_failed'],
    ['acp-codex2/err401', 'authentication_failed'],
    ['acp-claude/max_tokens', 'output_truncated'],
    ['acp-gemini/err401', 'authentication_failed'],
    ['acp-gemini/drop', 'connection_failed'],
    ['acp-qwen/err401', 'authentication_failed'],
    ['acp-codex/err401', 'authentication_failed'],
    ['acp-codex/err429_once', 'rate_limited'],
    ['acp-opencode/err401', 'authentication_failed'],
    ['acp-opencode/errors', 'session_not_found'],
    ['acp-copilot/errors', 'session_not_found'],
  ])('%s failed with %s', (name, code) => {
    const [end] = eventsOf(eventsIn(name), 'turn.completed')
    expect({ outcome: end?.outcome, code: end?.error?.code }).toEqual({ outcome: 'failed', code })
  })

  test('an apparent failure followed by more text is part of the answer', () => {
    const talk = new Talk().begin({ sessionId: 's1' }, 'Copilot')
    talk.hear(chunk('Error: '), chunk('this is how it reads.'), result(3, { stopReason: 'end_turn' }))
    expect(talk.only('text.completed')).toMatchObject([{ text: 'Error: this is how it reads.' }])
    expect(talk.only('turn.completed')).toMatchObject([{ outcome: 'completed' }])
  })

  test('an apparent failure at the end of a turn with usage is an answer', () => {
    const talk = new Talk().begin({ sessionId: 's1' }, 'Copilot')
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
    talk.hear(chunk('Error: 404 means not found.'), result(3, { stopReason: 'end_turn', usage }))
    expect(talk.only('turn.completed')).toMatchObject([{ outcome: 'completed' }])
    expect(talk.only('text.completed')).toMatchObject([{ text: 'Error: 404 means not found.' }])
  })

  test.each([
    ['without an id, in a turn without usage', undefined, null, 'failed'],
    [
      'without an id, in a turn that was counted',
      undefined,
      { inputTokens: 1, outputTokens: 1 },
      'completed',
    ],
    ['without an id, where no usage is told', undefined, undefined, 'completed'],
    ['with an id', 'm2', null, 'completed'],
  ])('last text %s is a failure or an answer', (_which, messageId, usage, outcome) => {
    const talk = new Talk().begin({ sessionId: 's1' }, '@agentclientprotocol/codex-acp')
    const words = 'stream disconnected before completion: Transport error'
    const end = { stopReason: 'end_turn', ...(usage !== undefined && { usage }) }
    talk.hear(chunk('Warning: slow.'), chunk('Half an ans', 'm1'), chunk(words, messageId), result(3, end))
    expect(talk.only('turn.completed')).toMatchObject([{ outcome }])
    const texts = talk.only('text.completed').map(({ text }) => text)
    expect(texts).toEqual(outcome === 'failed' ? ['Half an ans'] : ['Half an ans', words])
    if (outcome === 'failed')
      expect(talk.only('turn.completed')).toMatchObject([{ error: { code: 'connection_failed' } }])
  })

  test.each([
    ['cancelled', { usage: { inputTokens: 1, outputTokens: 1 } }],
    ['cancelled', {}],
    ['max_tokens', { usage: { inputTokens: 1, outputTokens: 1 } }],
  ])('text without an id in a turn that ended with %s %j is its answer', (stopReason, usage) => {
    const talk = new Talk().begin({ sessionId: 's1' }, '@agentclientprotocol/codex-acp')
    talk.hear(chunk('One '), chunk('two'), result(3, { stopReason, ...usage }))
    expect(talk.only('text.completed')).toMatchObject([{ text: 'One two', partial: true }])
    expect(talk.only('notice.raised')).toEqual([])
  })

  test.each([
    [429, 'You have exhausted your daily quota on this model.', 'quota_exceeded'],
    [-32603, 'Internal error: 429 You exceeded your current quota.', 'quota_exceeded'],
    [-32603, 'Quota exceeded: no more requests under this rate limit', 'quota_exceeded'],
    [429, 'Slow down.', 'rate_limited'],
  ])('%i "%s" is %s', (number, message, code) => {
    const talk = new Talk().begin()
    talk.hear(failure(3, number, message))
    expect(talk.only('turn.completed')).toMatchObject([{ error: { code } }])
  })

  test.each([
    ['cancelled', 'interrupted'],
    ['refusal', 'refused'],
    ['max_turn_requests', 'max_steps'],
    ['max_tokens', 'failed'],
    ['something_new', 'failed'],
  ])('the stop reason %s is the outcome %s', (stopReason, outcome) => {
    const talk = new Talk().begin()
    talk.hear(result(3, { stopReason }))
    expect(talk.only('turn.completed')).toMatchObject([{ outcome, nativeReason: stopReason }])
  })
})

describe('sessions', () => {
  test.each([
    'acp-claude/load_session_2',
    'acp-codex/load_session_2',
    'acp-codex2/load_session_2',
    'acp-copilot/load_session_2',
    'acp-opencode/load_session_2',
    'acp-qwen/load_session_2',
    'acp-gemini/load_tool_bash_2',
  ])('%s: history is not shown again', (name) => {
    const events = eventsIn(name)
    expect(eventsOf(events, 'text.completed').map(({ text }) => text)).toEqual(['History has 2 user turns.'])
    expect(eventsOf(events, 'tool.started')).toEqual([])
  })

  test('frames of another session on the same connection are not ours', () => {
    const texts = eventsOf(eventsIn('acp-opencode/concurrent_prompt'), 'text.completed').map(
      ({ text }) => text,
    )
    expect(texts.join()).not.toContain('before the drop')
  })

  test.each([
    ['acp-gemini', ['interrupted', 'completed']],
    ['acp-copilot', ['interrupted', 'completed']],
    ['acp-codex2', ['interrupted', 'completed']],
    ['acp-claude', ['interrupted', 'interrupted']],
    ['acp-opencode', ['interrupted', 'interrupted']],
    ['acp-qwen', ['failed', 'completed']],
  ])('%s: a prompt that was sent too early gets its own turn after the open one', (program, outcomes) => {
    const events = eventsIn(`${program}/concurrent_prompt`)
    expect(eventsOf(events, 'turn.completed').map(({ outcome }) => outcome)).toEqual(outcomes)
    expect(eventsOf(events, 'turn.started').every(({ prompt }) => prompt?.startsWith('SCENARIO:'))).toBe(true)
  })

  test.each([
    ['acp-gemini/set_mode', ['default', 'yolo']],
    ['acp-copilot/set_mode', ['#agent', '#autopilot', '#plan']],
    ['acp-opencode/set_mode', ['build', 'plan']],
    ['acp-qwen/set_mode', ['auto', 'yolo', 'plan']],
    ['acp-codex2/set_mode', ['agent', 'agent-full-access', 'read-only']],
  ])('%s: a mode is reported when it changes, from any field', (name, modes) => {
    const told = eventsOf(eventsIn(name), 'session.updated').flatMap(
      ({ mode }) => mode?.replace(/.*#/, '#') ?? [],
    )
    expect(told).toEqual(modes)
    expect(eventsOf(eventsIn(name), 'notice.raised')).toMatchObject([{ code: 'mode_refused' }])
  })

  test('an unchanged list of commands emits nothing', () => {
    const commands = eventsOf(eventsIn('acp-copilot/text'), 'session.updated').flatMap(
      ({ commands }) => commands ?? [],
    )
    expect(commands).toHaveLength(32)
  })

  test('plans are whole lists', () => {
    expect(eventsOf(eventsIn('acp-codex/todo'), 'plan.updated').at(-1)?.items).toEqual([
      { text: 'inspect', status: 'completed', priority: 'medium' },
      { text: 'implement', status: 'in_progress', priority: 'medium' },
      { text: 'test', status: 'pending', priority: 'medium' },
    ])
  })

  test('an agent that is not logged in reports it', () => {
    for (const program of ['auggie', 'cline', 'droid', 'kimi']) {
      const [notice] = eventsOf(eventsIn(`acp-${program}/initialize`), 'notice.raised')
      expect(notice).toMatchObject({ level: 'error', code: 'agent_error' })
      expect(notice?.message).toContain('Authentication required')
    }
  })
})

describe('usage', () => {
  test('a running cost is reported as the cost of each turn', () => {
    const talk = new Talk().begin()
    const spend = (amount: number) =>
      update('usage_update', { used: 1, size: 2, cost: { amount, currency: 'USD' } })
    talk.hear(spend(0.25), result(3, { stopReason: 'end_turn' }))
    talk.prompt()
    talk.hear(spend(0.75), result(4, { stopReason: 'end_turn' }))
    expect(talk.only('turn.completed').map(({ usage }) => usage?.costUsd)).toEqual([0.25, 0.5])
  })

  test('a running total of tokens is reported as the usage of each turn', () => {
    const talk = new Talk('copilot').begin({ sessionId: 's1' })
    const total = (tokens: number) => ({
      stopReason: 'end_turn',
      usage: { inputTokens: tokens, outputTokens: 0, totalTokens: tokens },
    })
    // Zeros are no total, and a smaller total has started again.
    for (const [index, tokens] of [100, 250, 0, 300, 40].entries()) {
      if (index > 0) talk.prompt()
      talk.hear(result(3 + index, total(tokens)))
    }
    const used = talk.only('turn.completed').map(({ usage }) => usage?.total)
    expect(used).toEqual([100, 150, undefined, 50, 40])
  })

  test.each([
    ['a new session', {}, { total: 490 }],
    [
      'a resumed session, whose first figure lacks sub-agents',
      { resume: 's1' },
      { total: 490, partial: true },
    ],
  ])('the usage by model includes sub-agents in %s', (_which, start, usage) => {
    const talk = new Talk('claude-agent-acp', start)
    talk.tell({ type: 'open' })
    talk.prompt()
    talk.write(result(1, { protocolVersion: 1, agentCapabilities: { loadSession: true } }))
    talk.write(result(2, { sessionId: 's1' }))
    const call = { toolCallId: 't1', name: 'Task', rawInput: { prompt: 'x' }, status: 'in_progress' }
    const row = { model: 'm', token_count: { inputTokens: 400, outputTokens: 90, totalTokens: 490 } }
    talk.hear(
      update('tool_call', call),
      update('tool_call_update', { toolCallId: 't1', status: 'completed' }),
      result(3, {
        stopReason: 'end_turn',
        usage: { inputTokens: 200, outputTokens: 50, totalTokens: 250 },
        _meta: { quota: { model_usage: [row] } },
      }),
    )
    expect(talk.only('turn.completed')[0]?.usage).toEqual({ input: 400, output: 90, ...usage })
  })

  test('the cost of earlier turns of a foreign session is not counted as ours', () => {
    const [end] = eventsOf(eventsIn('acp-opencode/load_session_2'), 'turn.completed')
    expect(end?.usage).not.toHaveProperty('costUsd')
    expect(end?.usage).toMatchObject({ total: 120 })
  })

  test('the last model call of a turn with tools does not count as the whole turn', () => {
    const events = eventsIn('acp-opencode/tool_bash')
    expect(eventsOf(events, 'usage.reported')).toMatchObject([
      { scope: 'context' },
      { scope: 'step', total: 130 },
      { scope: 'turn', costUsd: 0.000236 },
    ])
    expect(eventsOf(events, 'turn.completed')[0]?.usage).toEqual({ costUsd: 0.000236 })
  })

  test('zeros after an interrupt are not usage', () => {
    for (const program of ['acp-claude', 'acp-opencode']) {
      expect(eventsOf(eventsIn(`${program}/cancel_stream`), 'turn.completed')[0]).not.toHaveProperty('usage')
    }
  })
})

describe('interrupts', () => {
  const cancelled = recordings.filter(({ scenario }) => scenario === 'cancel_stream')

  test.each(cancelled)('$name: a cancel that is answered with an error is an interrupt', (one) => {
    const error = { code: -32603, message: 'Internal error', data: { details: 'The operation was aborted' } }
    const lines = one.lines.map((line) => {
      const { msg, ...rest } = Object(JSON.parse(line))
      if (msg.result?.stopReason === undefined) return line
      return `${JSON.stringify({ ...rest, msg: { jsonrpc: '2.0', id: msg.id, error } })}\n`
    })
    expect(lines).not.toEqual(one.lines)
    const events = decodeLines(one, lines).entries.map(({ event }) => event)
    expect(eventsOf(events, 'turn.completed').map(({ outcome }) => outcome)).toEqual(['interrupted'])
  })
})

describe('silence', () => {
  test('a program that dies before the handshake is explained by what it wrote', () => {
    const talk = new Talk()
    talk.tell({ type: 'open' })
    talk.prompt()
    talk.conversation.frame({ stream: 'stderr', text: 'Error: Invalid API key' })
    talk.exit({ code: 1 })
    expect(talk.only('turn.completed')).toMatchObject([
      { outcome: 'failed', error: { code: 'authentication_failed', message: 'Error: Invalid API key' } },
    ])
  })

  test('a program that dies in a turn has crashed, and leaves nothing open', () => {
    const talk = new Talk().begin()
    talk.hear(chunk('Half a'), asks(0, { toolCallId: 't', title: 'ls', kind: 'execute' }))
    expect(talk.exit({ signal: 'SIGKILL' })).toMatchObject([
      { type: 'request.withdrawn' },
      { type: 'tool.completed', status: 'error', settled: true },
      { type: 'turn.completed', outcome: 'crashed' },
    ])
  })

  test('a response after its turn was abandoned emits nothing', () => {
    const talk = new Talk().begin()
    talk.hear(failure(3, -32603, 'Internal error'))
    expect(talk.hear(result(3, { stopReason: 'end_turn' }))).toEqual([])
  })
})

describe('transcripts', () => {
  test('a session that another client resumed is reported, and its earlier cost is not counted', () => {
    const [one] = recordings
    const emitted = (dir: string, msg: object) =>
      `${JSON.stringify({ dir, msg: { jsonrpc: '2.0', ...msg } })}\n`
    const params = { sessionId: 's1' }
    const cost = { amount: 0.5, currency: 'USD' }
    const lines = [
      emitted('in', { id: 1, method: 'session/resume', params }),
      emitted('out', { id: 1, result: {} }),
      emitted('in', { id: 2, method: 'session/prompt', params: { ...params, prompt: [] } }),
      emitted('out', update('usage_update', { used: 1, size: 2, cost })),
      emitted('out', { id: 2, result: { stopReason: 'end_turn' } }),
    ]
    const events = one ? decodeLines(one, lines).entries.map(({ event }) => event) : []
    expect(eventsOf(events, 'session.updated')).toMatchObject([{ nativeSessionId: 's1' }])
    expect(eventsOf(events, 'turn.completed')[0]).not.toHaveProperty('usage')
  })
})
