import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/long.ts'
import type { FileDiff } from '../src/text/diff.ts'
import { patchOf } from '../src/text/patch.ts'

const relative = (path: string) => path.replace(/^\/home\//, '')

/** What `git apply` makes of files with the patches of these changes; undefined for a file that is gone. */
function applied(
  files: Record<string, string>,
  ...changes: FileDiff[]
): (path: string) => string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'patch-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    const input = changes.map((change) => patchOf(change, relative) ?? '').join('')
    execFileSync('git', ['apply', '-'], { cwd: folder, input, stdio: ['pipe', 'ignore', 'pipe'] })
    const known = [...Object.keys(files), ...changes.map(({ path }) => relative(path))]
    const found = new Map(
      known.map((path) => {
        const file = join(folder, path)
        return [path, existsSync(file) ? readFileSync(file, 'utf8') : undefined]
      }),
    )
    return (path) => found.get(path)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const NAMES = ['plain.ts', 'with space.txt', 'quo"te.txt', 'tab\there.txt', 'ünï/code.txt', 'back\\slash.txt']

test.each(NAMES)('a file %j is created, changed, renamed and deleted', (path) => {
  const file = `/home/${path}`
  expect(applied({}, { path: file, change: 'created', after: 'a\nb\n' })(path)).toBe('a\nb\n')
  expect(
    applied(
      { [path]: 'a\nb\n' },
      { path: file, change: 'modified', before: 'a\nb\n', after: 'a\nc\n' },
    )(path),
  ).toBe('a\nc\n')
  expect(applied({ [path]: 'a\n' }, { path: file, change: 'deleted', before: 'a\n' })(path)).toBeUndefined()
  const renamed = applied(
    { [path]: 'a\nb\n' },
    { path: '/home/new/name.ts', from: file, change: 'renamed', before: 'a\nb\n', after: 'a\nz\n' },
  )
  expect([renamed(path), renamed('new/name.ts')]).toEqual([undefined, 'a\nz\n'])
})

test('a rename without another change, and files without content, are applied', () => {
  const only = applied({ old: 'a\n' }, { path: '/home/new', from: '/home/old', change: 'renamed' })
  expect([only('old'), only('new')]).toEqual([undefined, 'a\n'])
  expect(applied({}, { path: '/home/empty', change: 'created', after: '' })('empty')).toBe('')
  expect(
    applied({ empty: '' }, { path: '/home/empty', change: 'deleted', before: '' })('empty'),
  ).toBeUndefined()
})

test('a reported diff is applied with its marker of a missing line break', () => {
  const diff =
    '--- a/x\n+++ b/x\n@@ -1 +1 @@ context\n-old\n\\ No newline at end of file\n+new\n\\ No newline at end of file\n'
  expect(applied({ x: 'old' }, { path: '/home/x', change: 'modified', diff })('x')).toBe('new')
})

test('two changes of a file follow each other', () => {
  const diffs = ['@@ -1,2 +1,2 @@\n-a\n+b\n c\n', '@@ -1,2 +1,2 @@\n-b\n+d\n c']
  const changes = diffs.map((diff): FileDiff => ({ path: '/home/x', change: 'modified', diff }))
  expect(applied({ x: 'a\nc\n' }, ...changes)('x')).toBe('d\nc\n')
})

test.each<[string, FileDiff]>([
  ['no content', { path: '/home/x', change: 'modified' }],
  ['one text alone', { path: '/home/x', change: 'modified', after: 'a' }],
  ['a deletion whose text is unknown', { path: '/home/x', change: 'deleted' }],
  ['a diff without a header', { path: '/home/x', change: 'modified', diff: '+a\n-b\n' }],
  ['a file elsewhere', { path: '/etc/hosts', change: 'created', after: 'a\n' }],
])('%s makes no patch', (_, file) => {
  expect(patchOf(file, relative)).toBeUndefined()
})

test('any two texts become each other', () => {
  const line = fc.constantFrom('a', 'b', '', ' c', '+d', '-e', '\\f', '@@ -1 +1 @@', 'g\r')
  const texts = fc
    .tuple(fc.array(line, { maxLength: 30 }), fc.boolean())
    .map(([lines, ends]) => lines.join('\n') + (ends ? '\n' : ''))
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      fc.pre(before !== after)
      expect(applied({ x: before }, { path: '/home/x', change: 'modified', before, after })('x')).toBe(after)
    }),
    { numRuns: runs(40, 1_000) },
  )
})
