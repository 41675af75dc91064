import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { nextVersion, releaseChangelog } from '../../scripts/release.ts'

describe('the next version', () => {
  it.each([
    ['patch', '1.2.4'],
    ['minor', '1.3.0'],
    ['major', '2.0.0'],
    ['1.10.0', '1.10.0'],
  ])('after 1.2.3 for %s is %s', (step, version) => {
    expect(nextVersion('1.2.3', step)).toBe(version)
  })

  it.each(['1.2.3', '1.2.2', '0.9.9'])('cannot be %s, which is not higher', (step) => {
    expect(() => nextVersion('1.2.3', step)).toThrow('is not higher than 1.2.3')
  })

  it('cannot be another word', () => {
    expect(() => nextVersion('1.2.3', 'next')).toThrow('next is not a version')
  })
})

describe('the changelog of a release', () => {
  const head = '# Changelog\n\n## [Unreleased]\n'

  it('has the changes under the version, and an empty section for the next', () => {
    const text = `${head}\n### Fixed\n\n- A fault.\n\n## [0.1.0] - 2026-01-01\n`
    expect(releaseChangelog(text, '0.2.0', '2026-02-03')).toBe(
      `${head}\n## [0.2.0] - 2026-02-03\n\n### Fixed\n\n- A fault.\n\n## [0.1.0] - 2026-01-01\n`,
    )
  })

  it('is refused without a change', () => {
    const text = `${head}\n### Fixed\n\n## [0.1.0] - 2026-01-01\n\n- An old change.\n`
    expect(() => releaseChangelog(text, '0.2.0', '2026-02-03')).toThrow('lists no change')
  })

  it('is refused if the version has a section', () => {
    const text = `${head}\n- A change.\n\n## [0.2.0] - 2026-01-01\n`
    expect(() => releaseChangelog(text, '0.2.0', '2026-02-03')).toThrow('already has a section for 0.2.0')
  })

  it('can be made from the changelog of this repository', () => {
    const text = readFileSync('CHANGELOG.md', 'utf8')
    expect(releaseChangelog(text, '99.0.0', '2026-02-03')).toContain('## [99.0.0] - 2026-02-03')
  })
})
