import { expect, test } from 'vitest'
import { rewindTurn, verbIn } from '../../src/model/request/verb.ts'

test.each([
  ['/compact', { verb: 'compact', argument: '' }],
  [' /review\n', { verb: 'review', argument: '' }],
  ['/goal', { verb: 'goal', argument: '' }],
  ['/goal all tests\npass', { verb: 'goal', argument: 'all tests\npass' }],
  ['/rewind 3', { verb: 'rewind', argument: '3' }],
  ['/goals', undefined],
  ['What does /compact do?', undefined],
  ['/compact but keep the plan', undefined],
])('%j', (prompt, verb) => {
  expect(verbIn(prompt)).toEqual(verb)
})

test.each(['', '0', '-1', 'last', '1.5', '3 4'])('a rewind to %j names no turn', (argument) => {
  expect(() => rewindTurn({ verb: 'rewind', argument })).toThrow('name the turn')
})
