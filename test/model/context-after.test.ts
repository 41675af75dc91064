import { expect, test } from 'vitest'
import type { Event } from '../../src/model/index.ts'
import { contextAfter } from '../../src/model/session/context-after.ts'

const report = (scope: 'step' | 'turn' | 'subagent' | 'context', more: object): Event => ({
  type: 'usage.reported',
  scope,
  source: 'agent',
  ...more,
})
const after = (...events: Event[]) =>
  events.reduce(contextAfter, undefined as ReturnType<typeof contextAfter>)

test('the tokens of the last model call are in the context', () => {
  expect(after(report('step', { total: 100 }), report('step', { total: 120 }))).toEqual({ used: 120 })
})

test('a count that the agent reports precedes the sum of its call', () => {
  expect(after(report('step', { total: 100, contextUsed: 90, contextSize: 1000 }))).toEqual({
    used: 90,
    size: 1000,
  })
})

test('turns and sub-agents do not fill the context, but a turn may report its size', () => {
  const step = report('step', { total: 100 })
  expect(after(step, report('subagent', { total: 900 }))).toEqual({ used: 100 })
  expect(after(step, report('turn', { total: 900, contextSize: 1000 }))).toEqual({ used: 100, size: 1000 })
})

test('a compaction empties it: to the count that the agent reports, or to an unknown one', () => {
  const full = report('context', { contextUsed: 900, contextSize: 1000 })
  expect(after(full, { type: 'context.compacted', after: 50 })).toEqual({ used: 50, size: 1000 })
  expect(after(full, { type: 'context.compacted' })).toEqual({ size: 1000 })
})
