import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runCell } from '../../conformance/cell.ts'
import type { Program } from '../../conformance/programs.ts'
import type { Scenario } from '../../conformance/scenario.ts'
import { must } from '../../conformance/stage.ts'
import { MainstemError } from '../../src/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'cell-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The agent that is built in: a cell without a program of its own. */
const ECHO: Program = {
  id: 'claude',
  agent: 'echo',
  package: 'none',
  version: '1.0.0',
  bin: 'none',
  offline: 'claude',
  launches: ['live'],
  inCi: false,
}

const cellOf = (id: string, play: Scenario['play']) =>
  runCell({ program: ECHO, launch: 'live', scenario: { id, title: id, play } }, 'none', join(folder, id))

describe('a cell', () => {
  it('whose scenario comes to its end is a yes', async () => {
    const result = await cellOf('text', async (stage) => {
      const told = await stage.turn(await stage.session(), 'text')
      must(told.outcome === 'completed' && told.text.startsWith('SCENARIO:text'), 'it is no echo')
      must(told.events.at(-1)?.type === 'turn.completed', 'it has no end')
    })
    expect(result).toEqual({
      program: 'claude',
      version: '1.0.0',
      launch: 'live',
      scenario: 'text',
      state: 'yes',
    })
  })

  it('that does not show what it is about is red', async () => {
    const result = await cellOf('text', async () => must(false, 'nothing to see'))
    expect(result).toMatchObject({ state: 'red', reason: 'nothing to see' })
  })

  it('that does not show what is a known limit is a no, with its evidence', async () => {
    const result = await cellOf('plan', async () => must(false, 'no list'))
    expect(result).toMatchObject({ state: 'no', reason: expect.stringMatching(/tasks/) })
    expect(result.evidence).toMatch(/^src\/agents\/claude\/fixtures\//)
  })

  it('that is refused with a known limit is a no', async () => {
    const result = await cellOf('plan', async () => {
      throw new MainstemError('unsupported_option', 'not here')
    })
    expect(result.state).toBe('no')
  })

  it('that shows what was thought to be a limit is red, because the limit is out of date', async () => {
    const result = await cellOf('plan', async () => undefined)
    expect(result).toMatchObject({ state: 'red', reason: expect.stringMatching(/works after all/) })
  })

  it('that fails in any other way is red, limit or not', async () => {
    const result = await cellOf('plan', async () => {
      throw new MainstemError('protocol_error', 'odd')
    })
    expect(result).toMatchObject({ state: 'red', reason: expect.stringMatching(/odd/) })
  })
})
