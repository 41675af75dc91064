import { expect, it } from 'vitest'
import { MUTATIONS } from '../../conformance/mutations.ts'
import { PROGRAMS } from '../../conformance/programs.ts'
import { SCENARIOS } from '../../conformance/scenarios/index.ts'
import { SETTINGS, settingsOf } from '../../conformance/settings.ts'

const programs = PROGRAMS.map(({ id }) => id)
const scenarios = SCENARIOS.map(({ id }) => id)

it('settings name programs and scenarios that exist', () => {
  expect(programs).toEqual(expect.arrayContaining(SETTINGS.flatMap((setting) => setting.programs)))
  expect(scenarios).toEqual(expect.arrayContaining(SETTINGS.flatMap((setting) => setting.scenarios)))
})

it('a cell names the settings it needs by number', () => {
  expect(settingsOf({ program: 'claude', scenario: 'plan' })).toEqual([1])
  expect(settingsOf({ program: 'claude', scenario: 'text' })).toEqual([])
})

it('mutations name cells that exist', () => {
  expect(MUTATIONS.length).toBeGreaterThanOrEqual(12)
  for (const { cell } of MUTATIONS) {
    const [program, launch, scenario] = cell.split('/')
    expect(programs).toContain(program)
    expect(['live', 'oneshot']).toContain(launch)
    expect(scenarios).toContain(scenario)
  }
})
