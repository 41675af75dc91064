import { describe, expect, it } from 'vitest'
import { cellsOf, unknownName } from '../../conformance/plan.ts'
import { PROGRAMS } from '../../conformance/programs.ts'
import { type CellResult, merge, type Results, stepsBack } from '../../conformance/results.ts'

const [claude] = PROGRAMS
const version = claude?.version ?? ''

const cell = (scenario: string, state: CellResult['state'], more: Partial<CellResult> = {}): CellResult => ({
  program: 'claude',
  version,
  launch: 'live',
  scenario,
  state,
  ...more,
})
const results = (...cells: CellResult[]): Results => ({ cells, warmth: [] })

describe('results', () => {
  it('take the place of earlier ones, in the order of the tables', () => {
    const before = results(cell('shell', 'red'), cell('text', 'yes'))
    expect(merge(before, results(cell('shell', 'yes'))).cells).toEqual([
      cell('text', 'yes'),
      cell('shell', 'yes'),
    ])
  })

  it('of scenarios, programs and versions that are gone go too', () => {
    const gone = results(
      cell('no-such', 'yes'),
      cell('text', 'yes', { program: 'nobody' }),
      cell('shell', 'yes', { version: '0.0.1' }),
    )
    expect(merge(gone, results()).cells).toEqual([])
  })

  it('are a step back when a cell was shown and is not', () => {
    const before = results(
      cell('text', 'yes'),
      cell('shell', 'yes'),
      cell('write', 'yes'),
      cell('edit', 'yes'),
      cell('cost', 'no'),
    )
    const now = results(
      cell('text', 'red'),
      cell('shell', 'no'),
      cell('write', 'not run'),
      cell('edit', 'ours'),
      cell('cost', 'red'),
    )
    expect(stepsBack(before, now).map(({ scenario }) => scenario)).toEqual(['text', 'shell', 'edit'])
  })
})

describe('a choice', () => {
  const all = { programs: [], scenarios: [], launches: [], ci: false }

  it('is everything by default', () => {
    const cells = cellsOf(all)
    expect(new Set(cells.map(({ program }) => program.id)).size).toBe(PROGRAMS.length)
    expect(new Set(cells.map(({ launch }) => launch))).toEqual(new Set(['live', 'oneshot']))
  })

  it('for every change is four agents in both launches, with eight scenarios each', () => {
    const cells = cellsOf({ ...all, ci: true })
    expect(new Set(cells.map(({ program }) => program.id))).toEqual(
      new Set(['claude', 'codex', 'gemini', 'opencode']),
    )
    expect(cells).toHaveLength(4 * 2 * 8)
  })

  it('of a program and a scenario is their cells', () => {
    const cells = cellsOf({ ...all, programs: ['codex'], scenarios: ['text', 'steer'] })
    expect(cells.map(({ program, launch, scenario }) => `${program.id} ${launch} ${scenario.id}`)).toEqual([
      'codex live text',
      'codex live steer',
      'codex oneshot text',
      'codex oneshot steer',
    ])
  })

  it('of an unknown name is refused', () => {
    expect(unknownName({ ...all, programs: ['claude'], scenarios: ['nonsense'] })).toBe('nonsense')
    expect(unknownName({ ...all, programs: ['claude'], scenarios: ['text'] })).toBeUndefined()
  })
})
