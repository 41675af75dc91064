import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cut, Wrap, widthOf } from '../../../src/cli/render/wrap.ts'

const asIs = (text: string) => text

function wrapped(pieces: readonly string[], columns: number, margin = '  ', first = margin): string {
  const wrap = new Wrap(columns, margin, asIs, first)
  return pieces.map((piece) => wrap.push(piece)).join('') + wrap.end()
}

const words = fc
  .array(fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom('日本', '😀', '\n', ' ', '  x')))
  .map((parts) => parts.join(''))

test('no line is wider than the terminal', () => {
  fc.assert(
    fc.property(words, fc.integer({ min: 4, max: 30 }), (text, columns) => {
      for (const line of wrapped([text], columns).split('\n'))
        expect(widthOf(line)).toBeLessThanOrEqual(columns)
    }),
  )
})

test('only spaces are added or removed', () => {
  fc.assert(
    fc.property(words, fc.integer({ min: 4, max: 30 }), (text, columns) => {
      expect(wrapped([text], columns).replace(/\s/g, '')).toBe(text.replace(/\s/g, ''))
    }),
  )
})

test('pieces give the same lines as the whole', () => {
  fc.assert(
    fc.property(words, fc.nat(40), (text, at) => {
      expect(wrapped([text.slice(0, at), text.slice(at)], 20)).toBe(wrapped([text], 20))
    }),
  )
})

test('lines break between words, keep their own indentation, and start with the margin', () => {
  expect(wrapped(['one two three\n  indented'], 12)).toBe('  one two\n  three\n    indented\n')
})

test('the first line may start with a mark', () => {
  expect(wrapped(['one two three'], 12, '  ', '> ')).toBe('> one two\n  three\n')
})

test('a text neither begins nor ends in empty lines, but keeps those inside', () => {
  expect(wrapped(['\n\na\n\nb\n\n'], 20)).toBe('  a\n\n  b\n')
})

test('a word that is too long is broken', () => {
  expect(wrapped(['abcdefgh'], 6)).toBe('  abcd\n  efgh\n')
})

test('a text without a word is nothing', () => {
  expect(wrapped([' \n '], 20)).toBe('')
})

test.each([
  ['abc', 3],
  ['日本', 4],
  ['é', 1],
  ['e\u0301', 1],
  ['😀', 2],
  ['❤️', 2],
  ['👍🏽', 2],
  ['👨‍👩‍👧', 2],
  ['🏳️‍🌈', 2],
  ['🇩🇪', 2],
  ['1️⃣', 2],
  ['⌚', 2],
  ['☎', 1],
  ['𝕏', 1],
])('%s takes %i columns', (text, width) => {
  expect(widthOf(text)).toBe(width)
})

test('an emoji of several code points is not broken', () => {
  expect(wrapped(['👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧'], 6)).toBe('  👨‍👩‍👧👨‍👩‍👧\n  👨‍👩‍👧\n')
  expect(cut('🇩🇪🇫🇷🇮🇹', 5)).toBe('🇩🇪🇫🇷…')
})

test('text that does not fit is cut and marked', () => {
  expect(cut('abcdef', 6)).toBe('abcdef')
  expect(cut('abcdefg', 6)).toBe('abcde…')
})

test('a path that is longer than a line breaks behind a folder', () => {
  const path = 'src/a-folder-with-a-long-name/first-page.test.ts'
  expect(wrapped([`see ${path} now`], 34)).toBe(
    '  see\n  src/a-folder-with-a-long-name/\n  first-page.test.ts now\n',
  )
  // One folder at its beginning is not worth a line.
  expect(wrapped(['a/0123456789012345678901234567890123456789'], 34)).toBe(
    '  a/012345678901234567890123456789\n  0123456789\n',
  )
})
