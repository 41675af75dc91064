import { expect, test } from 'vitest'
import { planted } from '../../faults/plants/copy.ts'
import { PLANTS } from '../../faults/plants/plants.ts'

test('there are sixteen planted faults', () => {
  expect(new Set(PLANTS.map(({ name }) => name)).size).toBe(16)
})

test.each(PLANTS)('the plant "$name" fits the sources', (plant) => {
  expect(planted(plant)).toContain(plant.replace)
})
