import { expect, test } from 'vitest'
import { decodeFixture, fixtures } from '../fixtures.ts'
import { droppedBy, leavesIn } from './lost-strings.ts'

test.each(fixtures)('$name: every string is in an event, or its field is named as dropped', (fixture) => {
  const { entries, coverage } = decodeFixture(fixture)
  expect(leavesIn(fixture, entries).lost).toEqual([])
  expect(coverage.unmapped).toBe(0)
})

test('every field that is named as dropped has a reason', () => {
  for (const table of droppedBy.values()) {
    for (const [field, reason] of Object.entries(table))
      expect({ field, words: reason.split(' ').length > 1 }).toEqual({ field, words: true })
  }
})
