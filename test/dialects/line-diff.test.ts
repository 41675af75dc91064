import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lineDiff } from '../../src/dialects/kit/line-diff.ts'
import { runs } from '../long.ts'

const linesOf = (text: string) => (text === '' ? [] : text.split(/(?<=\n)/))

/** Applies one hunk as `patch` would, and refuses one that does not fit. */
function patched(before: string, diff: string): string {
  const [header = '', ...body] = diff.split('\n').slice(0, -1)
  const [, oldStart = 0, oldCount = 0, , newCount = 0] = (
    /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@$/.exec(header) ?? []
  ).map(Number)
  const sides: Record<'old' | 'now', string[]> = { old: [], now: [] }
  let touched: string[][] = []
  for (const line of body) {
    if (line === '\\ No newline at end of file') {
      for (const side of touched) side.push((side.pop() ?? '').slice(0, -1))
      continue
    }
    touched = [...(line.startsWith('+') ? [] : [sides.old]), ...(line.startsWith('-') ? [] : [sides.now])]
    for (const side of touched) side.push(`${line.slice(1)}\n`)
  }
  const lines = linesOf(before)
  const skipped = oldCount === 0 ? oldStart : oldStart - 1
  expect(sides.now).toHaveLength(newCount)
  expect(lines.splice(skipped, oldCount, ...sides.now)).toEqual(sides.old)
  return lines.join('')
}

const anyText = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', '', '+', '-c', '\\ x', 'd\r'), { maxLength: 12 }), fc.boolean())
  .map(([lines, ended]) => lines.join('\n') + (ended ? '\n' : ''))

test('for any change, the hunk converts one text to the other', () => {
  fc.assert(
    fc.property(anyText, anyText, (before, after) => {
      const diff = lineDiff(before, after)
      if (before === after) expect(diff).toBe('')
      else expect(patched(before, diff)).toBe(after)
    }),
    { numRuns: runs(300, 2_000) },
  )
})

test('a change in the middle is shown with three lines around it', () => {
  const lines = Array.from({ length: 12 }, (_, index) => `${index + 1}\n`)
  expect(lineDiff(lines.join(''), lines.with(6, 'seven\n').join(''))).toBe(
    '@@ -4,7 +4,7 @@\n 4\n 5\n 6\n-7\n+seven\n 8\n 9\n 10\n',
  )
})

test.each([
  ['', 'one\n', '@@ -0,0 +1,1 @@\n+one\n'],
  ['one\n', '', '@@ -1,1 +0,0 @@\n-one\n'],
  ['one', 'one\n', '@@ -1,1 +1,1 @@\n-one\n\\ No newline at end of file\n+one\n'],
])('from %j to %j', (before, after, diff) => {
  expect(lineDiff(before, after)).toBe(diff)
})
