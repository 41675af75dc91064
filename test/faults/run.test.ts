import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, it } from 'vitest'

const FAULTS = join(import.meta.dirname, '../../faults')
/** Not programs: the command itself, and what the programs share. */
const SHARED = ['run', 'random', 'fenced', 'offline-cell']

const faults = (...given: string[]) =>
  spawnSync(process.execPath, [join(FAULTS, 'run.ts'), ...given], { encoding: 'utf8' })

it('lists every program of the folder', () => {
  const programs = globSync(join(FAULTS, '*.ts')).map((path) => basename(path, '.ts'))
  const { stdout, status } = faults()
  const listed = stdout
    .split('\n')
    .slice(2)
    .flatMap((line) => line.split(' ', 1))
    .filter((name) => name !== '')
  expect(listed.toSorted()).toEqual(programs.filter((name) => !SHARED.includes(name)).toSorted())
  expect(status).toBe(0)
})

it('passes its options to the program', () => {
  const { stdout, status } = faults('simulate', '--seeds', '3', '--first', '9')
  expect(stdout).toMatch(/^seeds 3 bad 0 .* first 9$/m)
  expect(status).toBe(0)
})

it('refuses an unknown program, and lists those that exist', () => {
  const { stdout, stderr, status } = faults('toString')
  expect(stderr).toBe('There is no program named toString.\n')
  expect(stdout).toContain('crash')
  expect(status).toBe(2)
})
