import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { conformancePage, PAGE, withBlock } from '../../conformance/pages.ts'
import { PROGRAMS } from '../../conformance/programs.ts'
import { OPENCODE_2, OPENCODE_2_FOLDER } from '../../conformance/recorded.ts'
import { merge, readResults } from '../../conformance/results.ts'
import { SCENARIOS } from '../../conformance/scenarios/index.ts'

const results = readResults()

describe('the generated pages', () => {
  it('is a result for every cell of the four agents', () => {
    const cells = PROGRAMS.filter(({ inCi }) => inCi).flatMap(({ launches }) =>
      launches.flatMap(() => SCENARIOS),
    )
    const inCi = results.cells.filter(({ program }) => PROGRAMS.find(({ id }) => id === program)?.inCi)
    expect(inCi).toHaveLength(cells.length)
  })

  it('has no red cell, and nothing that is no longer in the tables', () => {
    expect(results.cells.filter(({ state }) => state === 'red')).toEqual([])
    expect(merge(results, { cells: [], warmth: [] })).toEqual(results)
  })

  it('is what the page shows', () => {
    expect(readFileSync(PAGE, 'utf8')).toBe(conformancePage(results))
  })

  it('names only recordings of OpenCode 2 that exist', () => {
    const names = OPENCODE_2.flatMap(({ shown }) => (typeof shown === 'string' ? [] : shown))
    expect(names.filter((name) => !existsSync(`${OPENCODE_2_FOLDER}/${name}`))).toEqual([])
  })

  it('is what the README shows', () => {
    const readme = readFileSync('README.md', 'utf8')
    expect(withBlock(readme, results)).toBe(readme)
  })

  it('changes both when a cell changes', () => {
    const cell = results.cells.find(({ scenario }) => scenario === 'deltas')
    if (!cell) throw new TypeError('there are no results')
    const other = merge(results, { cells: [{ ...cell, state: 'red' }], warmth: [] })
    const readme = readFileSync('README.md', 'utf8')
    expect(conformancePage(other)).not.toBe(conformancePage(results))
    expect(withBlock(readme, other)).not.toBe(readme)
  })

  it('needs markers in the README', () => {
    expect(() => withBlock('# No place', results)).toThrow(/no markers for the table/)
  })
})
