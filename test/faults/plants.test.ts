import { expect, test } from 'vitest'
import { planted } from '../../faults/plants/copy.ts'
import { PLANTS } from '../../faults/plants/plants.ts'

test('there are eighteen planted faults', () => {
  expect(new Set(PLANTS.map(({ name }) => name)).size).toBe(18)
})

test.each(PLANTS)('the plant "$name" fits the sources', (plant) => {
  expect(planted(plant)).toContain(plant.replace)
})
