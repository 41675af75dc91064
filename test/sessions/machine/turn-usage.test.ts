import { describe, expect, test } from 'vitest'
import type { Event, Usage } from '../../../src/model/index.ts'
import { TurnUsage, type UsageReports } from '../../../src/sessions/machine/turn-usage.ts'

const step: Event = {
  type: 'usage.reported',
  scope: 'step',
  input: 10,
  output: 2,
  total: 12,
  source: 'agent',
}
const ofChild: Event = { ...step, scope: 'subagent', subagentId: 'a' }
const text: Event = { type: 'text.delta', messageId: 'm', text: 'Hello' }
const starts: Event = { type: 'tool.started', toolId: 't', name: 'Bash', kind: 'execute' }
const ends: Event = { ...starts, type: 'tool.completed', status: 'success' }
const settled: Event = { ...ends, status: 'cancelled', settled: true }
const delegates: Event = { type: 'subagent.started', id: 'a', label: 'a' }

/** The usage of a turn that is stopped after these events. */
function cutAfter(events: readonly Event[], reports?: UsageReports, used?: Usage) {
  const turn = new TurnUsage(reports)
  for (const event of events) turn.observe(event)
  turn.stop()
  turn.observe(settled)
  return turn.ofCut(used)
}

describe('a turn that is stopped', () => {
  const counts = { input: 10, output: 2, total: 12 }
  const afterTools: UsageReports = { steps: { reported: 'after_tools' } }

  test('while a tool of a reported call runs has exact usage', () => {
    expect(cutAfter([text, step, starts])).toEqual(counts)
    expect(cutAfter([starts, step])).toEqual(counts)
  })

  test.each<[string, Event[], UsageReports?]>([
    ['while the next call runs', [step, starts, ends]],
    ['while the next call runs, with its tool begun', [step, starts, ends, text, starts]],
    ['while a tool runs, if calls are reported after their tools', [starts, ends, step, starts], afterTools],
    ['while a sub-agent works', [step, starts, delegates]],
  ])('%s has partial usage', (_when, events, reports) => {
    expect(cutAfter(events, reports)).toEqual({ ...counts, partial: true })
  })

  test('counts the calls of its sub-agents', () => {
    expect(cutAfter([step, ofChild, text])).toEqual({ input: 20, output: 4, total: 24, partial: true })
  })

  test('keeps the figure of its codec, and marks it', () => {
    expect(cutAfter([text], {}, { input: 5 })).toEqual({ input: 5, partial: true })
  })

  test('before the model answered has no usage', () => {
    expect(cutAfter([])).toBeUndefined()
  })

  test('has no usage if its agent never reports any', () => {
    expect(cutAfter([text], { capabilities: { usage: 'none' } })).toBeUndefined()
  })
})
