import { describe, expect, test } from 'vitest'
import { EXTENSIONS } from '../../../src/dialects/unified/unified-extension.ts'
import { unified } from '../../../src/dialects/unified.ts'
import type { Event, EventType } from '../../../src/model/index.ts'
import { SAMPLES } from '../../model/samples.ts'
import { entriesOf } from '../entries.ts'
import { schema } from '../json-schema.ts'
import { plays } from '../plays.ts'
import { say, started, turn, types } from './unified-say.ts'

const printed = schema('unified-event.printed')

test('reasoning is sent in pieces, and a repeated half once', () => {
  const messages = say(
    { type: 'thinking.delta', messageId: 'm1', text: 'Let me ' },
    { type: 'message.discarded', messageId: 'm1', reason: 'stream_broken' },
    { type: 'thinking.delta', messageId: 'm2', text: 'Let me th' },
    { type: 'thinking.completed', messageId: 'm2', text: 'Let me think.' },
    { type: 'thinking.completed', messageId: 'm3', text: 'Child.', parent: 's1' },
    { type: 'thinking.completed', messageId: 'm4', text: '' },
  )
  expect(messages).toEqual([
    { type: 'reasoningChunk', content: 'Let me ', isComplete: false },
    { type: 'reasoningChunk', content: 'th', isComplete: false },
    { type: 'reasoningChunk', content: 'ink.', isComplete: true },
    { type: 'reasoningChunk', content: 'Child.', isComplete: true, parent: 's1' },
  ])
})

test('a plan and a warning have types of their own', () => {
  const items = [{ text: 'test', status: 'pending' as const }]
  const messages = say(
    { type: 'plan.updated', items },
    { type: 'notice.raised', level: 'warning', code: 'agent_warning', message: 'slow', data: 'raw' },
  )
  expect(messages).toEqual([
    { type: 'planUpdated', items },
    { type: 'noticeRaised', level: 'warning', code: 'agentWarning', message: 'slow', nativeError: 'raw' },
  ])
})

test('a change whose kind is a guess is a written file', () => {
  const change = { type: 'file.changed', path: 'a', change: 'created', toolId: 't1', after: 'x' } as const
  expect(say({ ...change, changeReported: false })).toEqual([
    { type: 'fileWritten', filePath: 'a', toolId: 't1', after: 'x' },
  ])
  expect(types(say(change))).toEqual(['fileChanged'])
})

const usage = { type: 'usage.reported', source: 'agent', input: 5, costUsd: 0.01 } as const

test.each<Event>([
  { type: 'session.updated', model: 'opus', mode: 'plan', tools: ['Bash'] },
  { ...usage, scope: 'step', model: 'opus' },
  { ...usage, scope: 'subagent', subagentId: 's1' },
  { ...usage, scope: 'turn' },
  { ...usage, scope: 'context', contextUsed: 10 },
])('$type ($scope) is the entry of the log, with what the document has no field for', (event) => {
  expect(say(event)).toEqual([{ type: 'logEntry', event }])
})

/** Other messages report these: the lifecycle, or the whole text. */
const REPORTED_ELSEWHERE: ReadonlySet<EventType> = new Set([
  'session.started',
  'text.delta',
  'thinking.delta',
  'thinking.completed',
  'tool.progressed',
  'message.discarded',
  'tool.input.delta',
  'turn.queued',
])

test.each(Object.values(SAMPLES).filter(({ type }) => !REPORTED_ELSEWHERE.has(type)))(
  '$type inside a turn is not lost',
  (event) => {
    const state = unified.initial({})
    const before: Event[] = [started, turn(1)]
    if ('toolId' in event && event.type !== 'tool.started')
      before.push({ ...SAMPLES['tool.started'], toolId: event.toolId ?? '' })
    if ('requestId' in event && event.type !== 'request.opened')
      before.push({ ...SAMPLES['request.opened'], requestId: event.requestId })
    // An error is sent with the next message.
    const next: Event = { type: 'text.delta', messageId: 'next', text: 'x' }
    const sent = entriesOf(...before, event, next).map((entry) => unified.project(state, entry))
    const messages = sent.slice(before.length).flat()
    expect(messages.filter((message) => message.content !== 'x')).not.toEqual([])
  },
)

describe('without extensions', () => {
  const documented = plays.filter(({ agent }) => ['claude', 'codex', 'gemini'].includes(agent))

  test.each(documented)('$name is valid against the schema that the document prints', ({ entries }) => {
    const state = unified.initial({ extensions: '0' })
    const messages = entries.flatMap((entry) => unified.project(state, entry))
    expect(messages.map(printed).filter(Boolean)).toEqual([])
  })

  test.each(documented)('$name has the same documented messages, without gaps in their numbers', (play) => {
    const [all, few] = [unified.initial({}), unified.initial({ extensions: '0' })]
    for (const entry of play.entries) {
      const kept = unified.project(all, entry).filter(({ type }) => !EXTENSIONS.has(String(type)))
      const messages = unified.project(few, entry)
      expect(messages.map(({ type }) => type)).toEqual(kept.map(({ type }) => type))
      if (messages.length === 1) expect(messages[0]?.id).toBe(`evt_${entry.seq}`)
    }
  })
})
