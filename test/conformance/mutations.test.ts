import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { MUTATIONS } from '../../conformance/mutations.ts'
import { PROGRAMS } from '../../conformance/programs.ts'
import { SCENARIOS } from '../../conformance/scenarios/index.ts'

it.each(MUTATIONS)('$name can be planted, and names a cell', ({ file, from, cell }) => {
  expect(readFileSync(file, 'utf8').split(from)).toHaveLength(2)
  const [program, launch, scenario] = cell.split('/')
  expect(PROGRAMS.find(({ id }) => id === program)?.launches).toContain(launch)
  expect(SCENARIOS.map(({ id }) => id)).toContain(scenario)
})
