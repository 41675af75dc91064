import { expect, it } from 'vitest'
import { seededRandom } from '../../conformance/random.ts'

const numbers = (seed: number, name: string) => {
  const random = seededRandom(seed, name)
  return Array.from({ length: 100 }, random)
}

it('the same seed and name give the same numbers', () => {
  expect(numbers(1, 'a')).toEqual(numbers(1, 'a'))
  expect(numbers(1, 'a')).not.toEqual(numbers(2, 'a'))
  expect(numbers(1, 'a')).not.toEqual(numbers(1, 'b'))
})

it('numbers spread over the range from 0 to 1', () => {
  const all = numbers(7, 'spread')
  expect(all.every((number) => number >= 0 && number < 1)).toBe(true)
  expect(new Set(all.map((number) => Math.floor(number * 4))).size).toBe(4)
})
