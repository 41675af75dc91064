import { describe, expect, test } from 'vitest'
import { dialects } from '../../src/dialects/index.ts'
import type { Event } from '../../src/model/index.ts'
import { decodeFixture, fixtures } from '../agents/fixtures.ts'
import { SAMPLES } from '../model/samples.ts'
import { entriesOf, projectAll } from './entries.ts'

/** The last message of a recording that a dialect puts usage into, where it has one. */
function usageIn(dialect: string, recording: string): unknown {
  const fixture = fixtures.find(({ name }) => name === recording)
  const face = dialects.get(dialect)
  if (!fixture || !face) throw new Error(`no recording ${recording}, or no dialect ${dialect}`)
  const messages = projectAll(face, decodeFixture(fixture).entries, { raw: '1' })
  return USAGE[dialect]?.(messages)
}

type Message = Record<string, unknown>

const last = (messages: readonly Message[], key: string, value: string) =>
  messages.findLast((message) => message[key] === value)

const USAGE: Readonly<Record<string, (messages: readonly Message[]) => unknown>> = {
  mainstem: (messages) => Object(last(messages.map(eventOf), 'type', 'turn.completed')).usage,
  execute: (messages) => last(messages, 'kind', 'usage'),
  ues: (messages) => Object(last(messages, 'type', 'done')?.payload).usage,
  daemon: (messages) => Object(last(messages, 'type', 'result')?.raw).usage,
  unified(messages) {
    const { usage, usagePartial } = Object(last(messages, 'type', 'turnCompleted'))
    return { ...usage, ...(usagePartial && { usagePartial }) }
  },
}

const eventOf = (message: Message) => Object(message.event)

// Every figure was read in the recordings: Claude and OpenCode make two model calls in each of the two threads.
describe('the usage of a turn with a sub-agent counts both threads', () => {
  test.each<[string, Message, Message]>([
    [
      'mainstem',
      {
        input: 400,
        output: 100,
        cacheRead: 80,
        cacheWrite: 40,
        reasoning: 0,
        total: 620,
        costUsd: 0.003816,
      },
      {
        input: 300,
        output: 80,
        cacheRead: 120,
        cacheWrite: 0,
        reasoning: 20,
        total: 500,
        costUsd: 0.000472,
      },
    ],
    [
      'execute',
      { kind: 'usage', input_tokens: 400, output_tokens: 100, cache_read: 80, cache_write: 40 },
      { kind: 'usage', input_tokens: 300, output_tokens: 80, cache_read: 120, cache_write: 0 },
    ],
    [
      'ues',
      { inputTokens: 520, outputTokens: 100, toolUses: 1, totalCostUsd: 0.003816 },
      { inputTokens: 420, outputTokens: 80, toolUses: 1, totalCostUsd: 0.000472 },
    ],
    [
      'daemon',
      {
        input_tokens: 400,
        output_tokens: 100,
        cache_read_input_tokens: 80,
        cache_creation_input_tokens: 40,
      },
      {
        input_tokens: 300,
        output_tokens: 80,
        cache_read_input_tokens: 120,
        cache_creation_input_tokens: 0,
      },
    ],
    [
      'unified',
      { inputTokens: 520, outputTokens: 100, cachedTokens: 80, reasoningTokens: 0, totalTokens: 620 },
      { inputTokens: 420, outputTokens: 80, cachedTokens: 120, reasoningTokens: 20, totalTokens: 500 },
    ],
  ])('%s', (dialect, claude, opencode) => {
    expect(usageIn(dialect, 'claude/subagent')).toEqual(claude)
    expect(usageIn(dialect, 'opencode-serve/subagent')).toEqual(opencode)
  })
})

describe('a usage that lacks the calls of a sub-agent is marked', () => {
  test.each<[string, string]>([
    ['mainstem', 'partial'],
    ['execute', 'usagePartial'],
    ['ues', 'usagePartial'],
    ['daemon', 'partial'],
    ['unified', 'usagePartial'],
  ])('%s as %s', (dialect, mark) => {
    expect(usageIn(dialect, 'opencode/subagent')).toHaveProperty(mark, true)
    expect(usageIn(dialect, 'codex/subagent_v1')).toHaveProperty(mark, true)
    expect(usageIn(dialect, 'claude/subagent')).not.toHaveProperty(mark)
  })
})

test('board has no usage', () => {
  const used: Event = { ...SAMPLES['turn.completed'], usage: { input: 1234567, partial: true } }
  const board = dialects.get('board')
  const log = entriesOf(SAMPLES['session.started'], SAMPLES['turn.started'], used)
  expect(board && JSON.stringify(projectAll(board, log))).not.toMatch(/1234567|partial/)
})

test.each(['execute', 'ues'])('%s shows the figure of the turn’s end, not an earlier report', (dialect) => {
  const report: Event = { type: 'usage.reported', scope: 'turn', input: 1, output: 1, source: 'agent' }
  const end: Event = { ...SAMPLES['turn.completed'], usage: { input: 5, output: 2, partial: true } }
  const face = dialects.get(dialect)
  const log = entriesOf(SAMPLES['session.started'], SAMPLES['turn.started'], report, end)
  expect(face && USAGE[dialect]?.(projectAll(face, log))).toMatchObject({ usagePartial: true })
})
