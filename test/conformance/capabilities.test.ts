import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { LIMITS, limitOf } from '../../conformance/limits/index.ts'
import { PROGRAMS } from '../../conformance/programs.ts'
import { nameOf, readResults } from '../../conformance/results.ts'
import { SCENARIOS } from '../../conformance/scenarios/index.ts'
import { agents } from '../../src/agents/index.ts'

const { cells } = readResults()

/** Cells of scenarios that show what an agent declares, with what it declares. */
const declared = cells.flatMap((cell) => {
  const program = PROGRAMS.find(({ id }) => id === cell.program)
  const agent = agents.find(({ id }) => id === program?.agent)
  const capability = SCENARIOS.find(({ id }) => id === cell.scenario)?.capability
  const capabilities = agent?.launches[cell.launch]?.capabilities
  // Agents declare what their newest tested version can do with the settings of its main column.
  if (program?.variant !== undefined || !capability || !capabilities || agent?.testedVersion !== cell.version)
    return []
  return [{ name: nameOf(cell), state: cell.state, capability, value: capabilities[capability] }]
})

describe('the declared capabilities of agents', () => {
  it('is looked at for each of the four, in both launches', () => {
    const looked = new Set(declared.map(({ name }) => name.split('/').slice(0, 2).join('/')))
    for (const { id, launches, inCi } of PROGRAMS) {
      for (const launch of inCi ? launches : []) expect([...looked]).toContain(`${id}/${launch}`)
    }
  })

  it.each(declared)('$name: $capability is $value, and it is shown: $state', ({ state, value }) => {
    expect(value !== false && value !== 'none').toBe(state === 'yes')
  })
})

describe('limits', () => {
  const ids = (table: readonly { id: string }[]) => table.map(({ id }) => id)

  it('name programs and scenarios that exist, and say why', () => {
    for (const { programs = [], scenarios, reason } of LIMITS) {
      expect(ids(PROGRAMS)).toEqual(expect.arrayContaining([...programs]))
      expect(ids(SCENARIOS)).toEqual(expect.arrayContaining([...scenarios]))
      expect(reason).toMatch(/^[A-Z].+\.$/)
    }
  })

  it('point to recordings of this repository, where they point to any', () => {
    const pointing = LIMITS.flatMap(({ evidence }) => evidence ?? [])
    const started = LIMITS.filter(({ reason }) => !/refused before/i.test(reason))
    expect(pointing.length).toBeGreaterThan(started.length / 2)
    expect(pointing.filter((evidence) => !existsSync(evidence))).toEqual([])
  })

  it('are the reason of every cell that is a no, and what was seen is what they say', () => {
    const refused = cells.filter(({ state }) => state === 'no' || state === 'ours')
    const unexplained = refused.filter(({ state, program, launch, scenario, reason, seen = '' }) => {
      const limit = limitOf(program, launch, scenario)
      return (
        limit?.reason !== reason || !limit?.seen.test(seen) || (limit.ours ?? false) !== (state === 'ours')
      )
    })
    expect(refused.length).toBeGreaterThan(0)
    expect(unexplained).toEqual([])
  })

  it('that we refuse before anything starts name our own refusal', () => {
    const claimed = LIMITS.filter(({ reason }) => /refused before/i.test(reason))
    const others = claimed.filter(({ seen }) => !seen.source.startsWith('^unsupported_option: '))
    expect(claimed.length).toBeGreaterThan(0)
    expect(others).toEqual([])
  })

  it('are each of some cell', () => {
    const unused = LIMITS.filter(
      (limit) =>
        !PROGRAMS.some(({ id, launches }) =>
          launches.some((launch) => limit.scenarios.some((one) => limitOf(id, launch, one) === limit)),
        ),
    )
    expect(unused).toEqual([])
  })
})
