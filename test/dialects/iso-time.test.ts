import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isoTime } from '../../src/dialects/kit/iso-time.ts'

const END_OF_9999 = Date.UTC(10_000, 0) - 1

test('every moment up to the year 9999 is written as ISO 8601', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: END_OF_9999 }), (ms) => {
      expect(isoTime(ms)).toBe(new Date(ms).toISOString())
    }),
    { numRuns: 2_000 },
  )
})

test.each([
  0,
  Date.UTC(2000, 1, 29),
  Date.UTC(2100, 1, 28, 23, 59, 59, 999),
  Date.UTC(2100, 2, 1),
  Date.UTC(2024, 11, 31, 23, 59, 59, 999),
  END_OF_9999,
])('%d at a calendar boundary is correct', (ms) => {
  expect(isoTime(ms)).toBe(new Date(ms).toISOString())
})
