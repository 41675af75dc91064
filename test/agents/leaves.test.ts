import { expect, test } from 'vitest'
import { decodeFixture, fixtures } from './fixtures.ts'
import { droppedBy, lostStrings } from './lost-strings.ts'

test.each(fixtures)('$name: every string is in an event, or its field is named as dropped', (fixture) => {
  expect(lostStrings(fixture, decodeFixture(fixture).entries)).toEqual([])
})

test('every field that is named as dropped has a reason', () => {
  for (const table of droppedBy.values()) {
    for (const [field, reason] of Object.entries(table))
      expect({ field, words: reason.split(' ').length > 1 }).toEqual({ field, words: true })
  }
})
