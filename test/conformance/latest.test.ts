import { describe, expect, it } from 'vitest'
import { compareNewest, latestSection, newestPrograms, readLatest } from '../../conformance/latest.ts'
import { PROGRAMS } from '../../conformance/programs.ts'

const [program] = PROGRAMS
if (!program) throw new TypeError('there are no programs')

const BOTH = { tested: { command: '/bin/false' }, installed: { command: '/bin/false' } }
const cell = { program: program.id, version: '1.0.0', launch: 'live', scenario: 'text' } as const

describe('the newest version of a program', () => {
  it('is compared cell by cell with the tested one', async () => {
    const before = { cells: [{ ...cell, state: 'yes' as const }], warmth: [] }
    const now = { cells: [{ ...cell, state: 'red' as const, reason: 'no rule knows new/frame' }], warmth: [] }
    const compared = await compareNewest(program, '9.9.9', BOTH, before, now)
    expect(compared).toMatchObject({
      newest: '9.9.9',
      played: 1,
      changed: [{ scenario: 'text', before: 'yes', now: 'red', reason: 'no rule knows new/frame' }],
    })
  })

  it('that cannot be installed says why, and the tested version is compared with nothing', async () => {
    const none = { cells: [], warmth: [] }
    expect(
      await compareNewest(program, '9.9.9', { ...BOTH, installed: { failed: 'npm error' } }, none, none),
    ).toMatchObject({
      failed: 'npm error',
      played: 0,
    })
    const same = await compareNewest(program, program.version, BOTH, none, none)
    expect(same).toMatchObject({ played: 0, changed: [], newFlags: [] })
  })
})

describe('the section about the newest versions', () => {
  it('has a row for each program, once', () => {
    const ids = newestPrograms().map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const compared = readLatest()?.programs.map((one) => one.program) ?? []
    expect(ids).toEqual(expect.arrayContaining(compared))
    expect(new Set(compared).size).toBe(compared.length)
  })

  it('shows changed cells and options', () => {
    const one = { program: 'pi', tested: '1.0.0', newest: '1.1.0', played: 2 }
    const changed = [{ ...cell, before: 'yes' as const, now: 'red' as const, reason: 'a | b' }]
    const [, , table] = latestSection({
      date: '2026-01-02',
      programs: [{ ...one, changed, newFlags: ['--new'], lostFlags: [] }],
    })
    expect(table).toContain('live/text: yes → red (a \\| b)')
    expect(table).toContain('`--new`')
  })
})
