import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { isInside } from '../../src/compose/is-inside.ts'

const top = realpathSync(mkdtempSync(join(tmpdir(), 'mainstem-inside-')))
const folder = join(top, 'work')
mkdirSync(join(folder, 'src'), { recursive: true })
mkdirSync(join(top, 'work2'))
writeFileSync(join(folder, 'src/a.ts'), '')
symlinkSync(top, join(folder, 'out'))
symlinkSync(join(top, 'nowhere'), join(folder, 'dangling'))
symlinkSync(join(folder, 'src'), join(folder, 'in'))
afterAll(() => rmSync(top, { recursive: true }))

test.each([
  ['.', true],
  ['src/a.ts', true],
  ['src/new/deep/file.ts', true],
  ['in/a.ts', true],
  ['src/../src/a.ts', true],
  ['..foo', true],
  ['..', false],
  ['../work2/x', false],
  ['src/../../x', false],
  ['out/x', false],
  ['dangling', false],
  ['dangling/x', false],
  ['/etc/passwd', false],
  ['a\0b', false],
])('%j from inside: %s', (path, inside) => {
  expect(isInside(path, folder)).toBe(inside)
})

test('an absolute path counts where it really is', () => {
  expect(isInside(join(folder, 'src/a.ts'), folder)).toBe(true)
  expect(isInside(join(top, 'work2'), folder)).toBe(false)
  expect(isInside(join(folder, 'src/a.ts'), join(folder, 'in'))).toBe(true)
})

test('nothing is inside a folder that is not there', () => {
  expect(isInside('x', join(top, 'gone'))).toBe(false)
})
