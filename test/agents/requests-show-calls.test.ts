import { describe, expect, test } from 'vitest'
import { strayRequests } from '../../conformance/evidence.ts'
import { plays } from '../dialects/plays.ts'

describe.each(plays)('$name', ({ entries }) => {
  test('shows in each request the name and the input of the call that runs', () => {
    expect(strayRequests(entries.map(({ event }) => event))).toEqual([])
  })
})
