import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Printable, printable, printableLine } from '../../../src/cli/render/printable.ts'

const ESC = '\x1b'

/** Nothing of this may reach a terminal. */
const STEERING = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

/** Texts made of what terminals obey, with ordinary text in between. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ESC,
        '\x9b',
        '\x9d',
        '\x90',
        '\x9c',
        '\x07',
        '[',
        ']',
        'P',
        '_',
        '\\',
        ';',
        '(',
        '31m',
        '2J',
      ),
      fc.constantFrom(
        '\n',
        '\t',
        '\r',
        '\b',
        '\0',
        '\u202e',
        '\u2066',
        '😀',
        '\ud83d',
        '\ude00',
        'word',
        ' ',
      ),
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''))

/** The same text, cut anywhere, also inside a sequence or a character. */
const inPieces = fc.tuple(hostile, fc.array(fc.nat(60), { maxLength: 8 })).map(([text, places]) => {
  const cuts = [0, ...places.filter((place) => place < text.length), text.length].sort((a, b) => a - b)
  return { text, pieces: cuts.slice(1).map((end, index) => text.slice(cuts[index], end)) }
})

function streamed(pieces: readonly string[]): string {
  const cleaner = new Printable()
  return pieces.map((piece) => cleaner.push(piece)).join('') + cleaner.end()
}

describe('any text', () => {
  test('has nothing left that steers a terminal', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(printable(text)).not.toMatch(STEERING)
        expect(printableLine(text)).not.toMatch(/[\0-\x1f]/)
      }),
      { numRuns: 2000 },
    )
  })

  test('is cleaned alike, however it is cut into pieces', () => {
    fc.assert(
      fc.property(inPieces, ({ text, pieces }) => {
        expect(streamed(pieces)).toBe(printable(text))
      }),
      { numRuns: 2000 },
    )
  })

  test('is clean after one cleaning', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(printable(printable(text))).toBe(printable(text))
      }),
    )
  })

  test('swallows nothing of the next line', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(printable(`${text}\nrm -rf /`)).toMatch(/\nrm -rf \/$/)
      }),
    )
  })
})

test('ordinary text of any language stays as it is', () => {
  const ordinary = 'naïve\tcafé 日本語 🏳️‍🌈 العربية\n\nline two \u2028 three'
  expect(printable(ordinary)).toBe(ordinary)
})

test.each([
  ['a colour', `a${ESC}[31mb${ESC}[0mc`, 'abc'],
  ['an 8-bit colour', 'a\x9b31mb', 'ab'],
  ['a cleared screen', `a${ESC}[2J${ESC}[Hb`, 'ab'],
  ['a filled clipboard', `a${ESC}]52;c;ZXZpbA==\x07b`, 'ab'],
  ['an 8-bit string', 'a\x9d0;title\x9cb', 'ab'],
  ['a link', `${ESC}]8;;http://x${ESC}\\text${ESC}]8;;${ESC}\\`, 'text'],
  ['a device string', `a${ESC}Pq#0${ESC}\\b`, 'ab'],
  ['a character set', `a${ESC}(0b`, 'ab'],
  ['a sequence inside a string', `a${ESC}]0;x${ESC}[31mb`, 'ab'],
  ['a string without an end', `a${ESC}]0;x\nb`, 'a\nb'],
  ['a sequence without an end', `a${ESC}[31`, 'a'],
  ['an overwritten line', 'safe\revil\b\b', 'safeevil'],
  ['a reversed command', 'rm \u202efdp.txt', 'rm \\u202efdp.txt'],
  ['an isolate', '\u2066x\u2069', '\\u2066x\\u2069'],
  ['half a character', 'a\ud83d', 'a\ufffd'],
])('%s does nothing', (_, text, shown) => {
  expect(printable(text)).toBe(shown)
})

test('a character cut in two is shown when it is whole', () => {
  const cleaner = new Printable()
  expect([cleaner.push('a\ud83d'), cleaner.push('\ude00b'), cleaner.end()]).toEqual(['a', '😀b', ''])
})

test('on one line a break cannot forge another line', () => {
  expect(printableLine('npm test\n✔ completed')).toBe('npm test ✔ completed')
})
