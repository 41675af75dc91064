import { describe, expect, test } from 'vitest'
import { decodeRecording, statsOf } from '../../../src/compose/decode.ts'
import type { Event } from '../../../src/model/index.ts'
import { decodeFixture, fixtures } from '../fixtures.ts'
import { unfaithful, violations } from '../invariants.ts'

const recorded = fixtures.filter(({ program }) => program === 'opencode2')
const streams = recorded.filter(({ lines }) => lines.some((line) => line.includes('"stream":"sse')))

/** The `data:` lines of the event stream alone, as `mainstem decode` gets them from a file. */
function eventsOf(lines: readonly string[]): string {
  const seen = new Set<string>()
  return lines
    .flatMap((line) => {
      const { stream, msg } = line.trim() === '' ? {} : JSON.parse(line)
      if (!/^sse/.test(stream ?? '') || msg?.id === undefined || seen.has(msg.id)) return []
      seen.add(msg.id)
      return [`${JSON.stringify(msg)}\n`]
    })
    .join('')
}

function decoded(scenario: string) {
  const fixture = streams.find((one) => one.scenario === scenario)
  if (!fixture) throw new Error(`there is no recording ${scenario}`)
  const stdout = [new TextEncoder().encode(eventsOf(fixture.lines))]
  return decodeRecording({ agent: 'opencode2', launch: 'live', stdout, exit: {} })
}

type Of<T extends Event['type']> = Extract<Event, { type: T }>

function eventsIn<T extends Event['type']>(scenario: string, ...types: T[]): Of<T>[] {
  const isOne = (event: Event): event is Of<T> => types.some((type) => type === event.type)
  return decoded(scenario).entries.flatMap(({ event }) => (isOne(event) ? [event] : []))
}

test('all protocols of the program are recorded', () => {
  expect([recorded.length, streams.length]).toEqual([103, 85])
})

describe.each(streams)('the events of $scenario without the calls', ({ scenario }) => {
  test('are all accounted for', () => {
    const replayed = decoded(scenario)
    const { unaccounted, unmapped, malformed, oversized } = statsOf(replayed)
    expect({ unaccounted, unmapped, malformed, oversized }).toEqual({
      unaccounted: 0,
      unmapped: 0,
      malformed: 0,
      oversized: 0,
    })
    expect(violations(replayed.entries)).toEqual([])
    expect(unfaithful(replayed.entries)).toEqual([])
  })
})

describe('what the recordings teach', () => {
  test('a manual compaction is a turn of its own', () => {
    const [fixture] = streams.filter(({ scenario }) => scenario === 'compact_manual')
    if (!fixture) throw new Error('there is no recording compact_manual')
    const turns = decodeFixture(fixture).entries.flatMap(({ event }) =>
      event.type === 'turn.started' ? [event.prompt?.split(' ')[0]] : [],
    )
    expect(turns).toEqual(['SCENARIO:resume1', '/compact', 'SCENARIO:text'])
  })

  test('text comes before the call that follows it, also if its deltas arrive later', () => {
    const order = eventsIn('tool_bash', 'text.completed', 'tool.started').map(({ type }) => type)
    expect(order.slice(0, 2)).toEqual(['text.completed', 'tool.started'])
  })

  test('a text that its failed step cut off is partial', () => {
    expect(eventsIn('drop', 'text.completed')).toMatchObject([{ text: 'before the drop ', partial: true }])
    expect(eventsIn('interrupt_text', 'text.completed')).toMatchObject([{ partial: true }])
    expect(eventsIn('text', 'text.completed')[0]?.partial).toBeUndefined()
  })

  test('a step that ends with `length` fails its turn, although the execution succeeded', () => {
    expect(eventsIn('max_tokens', 'turn.completed')).toMatchObject([
      { outcome: 'failed', error: { code: 'output_truncated' } },
    ])
  })

  test('a script that fails is an error, although its call succeeded', () => {
    expect(eventsIn('mcp_exec_cold', 'tool.completed')).toMatchObject([{ name: 'execute', status: 'error' }])
  })

  test('a rejection without a message denies all calls that wait, and completes the turn', () => {
    expect(eventsIn('perm_two_tools_reject', 'tool.completed').map(({ status }) => status)).toEqual([
      'denied',
      'denied',
    ])
    expect(eventsIn('perm_two_tools_reject', 'turn.completed')).toMatchObject([
      { outcome: 'completed', denials: 2, nativeReason: 'shutdown' },
    ])
  })

  test('a rejection with a message denies one call, and the model continues', () => {
    expect(eventsIn('perm_bash_reject_message', 'tool.completed')).toMatchObject([
      { status: 'denied', deniedBy: 'person' },
    ])
  })

  test('prompts that are queued in one execution are two turns, and those that steer it are one', () => {
    expect(eventsIn('queue', 'turn.started').length).toBe(2)
    expect(eventsIn('queue_promote', 'turn.started').length).toBe(1)
    expect(eventsIn('queue_promote', 'turn.steered')).toMatchObject([{ effect: 'folded' }])
  })

  test('a prompt that is interrupted before its delivery is read with the next one', () => {
    const [first, second] = [
      eventsIn('interrupt_early_then_prompt', 'turn.started')[0]?.prompt,
      'SCENARIO:text',
    ]
    expect(first).toContain('SCENARIO:resume1')
    expect(eventsIn('interrupt_early_then_prompt', 'turn.steered')).toMatchObject([
      { prompt: expect.stringContaining(second) },
    ])
  })

  test('a hole in the numbers of durable events is reported, and a hole of one is not', () => {
    expect(eventsIn('sse_gap', 'notice.raised')).toMatchObject([
      { code: 'events_missing', data: { from: 3, to: 10 } },
    ])
    expect(eventsIn('text_notitle', 'notice.raised')).toEqual([])
  })

  test('a server that was killed leaves a crashed turn, and the next prompt is a turn of its own', () => {
    expect(eventsIn('kill9_mid_text', 'turn.completed').map(({ outcome }) => outcome)).toEqual([
      'crashed',
      'completed',
    ])
  })

  test('work in the background outlives its turn, and its result starts one', () => {
    expect(eventsIn('subagent_background', 'turn.started').map(({ origin }) => origin)).toEqual([
      'prompt',
      'agent',
    ])
    const ended = eventsIn('subagent_background', 'turn.completed', 'subagent.completed')
    expect(ended.map(({ type }) => type)).toEqual(['turn.completed', 'subagent.completed', 'turn.completed'])
  })

  test('the names of tools come from the start of their input', () => {
    expect(eventsIn('perm_write_once', 'tool.started').map(({ name }) => name)).not.toContain('?')
  })

  test('usage is that of the steps, without the calls for a title', () => {
    expect(eventsIn('text_notitle', 'turn.completed')).toMatchObject([{ usage: { input: 70 } }])
  })
})
