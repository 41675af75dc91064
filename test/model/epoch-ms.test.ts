import fc from 'fast-check'
import { expect, test } from 'vitest'
import { epochMs } from '../../src/model/text/epoch-ms.ts'

const TIME = 1_800_000_000_000

test.each<[string, number | string]>([
  ['seconds', 1_800_000_000],
  ['seconds as text', '1800000000'],
  ['milliseconds', 1_800_000_000_000],
  ['milliseconds as text', '1800000000000'],
  ['ISO 8601', '2027-01-15T08:00:00Z'],
  ['ISO 8601 with an offset', '2027-01-15T09:30:00.000+01:30'],
  ['ISO 8601 without seconds', '2027-01-15T08:00Z'],
])('%s are milliseconds since 1970', (_, time) => {
  expect(epochMs(time)).toBe(TIME)
})

test.each([undefined, '', 'soon', 'in 5 minutes', Number.NaN, Number.POSITIVE_INFINITY, -1])(
  '%o is no time',
  (time) => {
    expect(epochMs(time)).toBeUndefined()
  },
)

test('every time of the platform is read as the platform reads it', () => {
  const dates = fc.date({ min: new Date('1600-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  fc.assert(fc.property(dates, (date) => epochMs(date.toISOString()) === date.getTime()))
})
