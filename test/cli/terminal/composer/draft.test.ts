import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { widthOf } from '../../../../src/cli/render/wrap.ts'
import {
  type Draft,
  type Intent,
  NEW_DRAFT,
  remember,
  sent,
  typed,
} from '../../../../src/cli/terminal/composer/draft.ts'
import { draftRows } from '../../../../src/cli/terminal/composer/draft-rows.ts'
import { KeyReader } from '../../../../src/cli/terminal/key-reader.ts'

interface Written {
  draft: Draft
  intents: Intent[]
}

/** Types what a terminal sends, each piece at once. */
function write(pieces: readonly string[], draft = NEW_DRAFT): Written {
  const reader = new KeyReader()
  const written: Written = { draft, intents: [] }
  for (const piece of pieces) {
    const keys = [...reader.push(piece), ...(piece === '\x1b' ? reader.flush() : [])]
    for (const [index, key] of keys.entries()) {
      const { draft, intent } = typed(written.draft, key, index === keys.length - 1)
      written.draft = draft
      if (intent) written.intents.push(intent)
    }
  }
  return written
}

/** The text, with the caret as a bar. */
const shown = ({ text, caret }: Draft) => `${text.slice(0, caret)}|${text.slice(caret)}`

describe('keys change the draft', () => {
  test.each([
    ['letters', ['ab', 'c'], 'abc|'],
    ['backspace removes a whole character', ['a👩‍👩‍👧', '\x7f'], 'a|'],
    ['left, delete', ['abc', '\x1b[D', '\x1b[D', '\x1b[3~'], 'a|c'],
    ['a word back', ['one two ', '\x17'], 'one |'],
    ['home, end and cut', ['one', '\x01', 'x', '\x05', 'y', '\x15'], '|'],
    ['cutting an empty line removes it', ['a', '\n', '\x15', '\x15'], '|'],
    ['a new line', ['a', '\n', 'b'], 'a\nb|'],
    ['a backslash before Enter is a new line', ['a\\', '\r', 'b'], 'a\nb|'],
    [
      'up and down in a text of several lines',
      ['ab', '\n', 'cdef', '\x1b[A', 'x', '\x1b[B', 'y'],
      'abx\ncdey|f',
    ],
    ['a paste with its line breaks', ['\x1b[200~a\r\nb\tc\x1b[201~'], 'a\nb  c|'],
    ['a paste that is not marked', ['a\rb'], 'a\nb|'],
    ['control characters of a paste are removed', ['\x1b[200~a\x00\x9b31mb\x1b[201~'], 'ab|'],
    ['unknown sequences do nothing', ['a', '\x1b[24~', '\x1b[5~'], 'a|'],
  ])('%s', (_, pieces, expected) => {
    const { draft, intents } = write(pieces)
    expect([shown(draft), intents]).toEqual([expected, []])
  })

  test.each([
    ['Enter queues', ['a', '\r'], ['queue']],
    ['Enter in an empty draft does nothing', ['  ', '\r'], []],
    ['Ctrl-S steers', ['a', '\x13'], ['steer']],
    ['Escape interrupts and keeps the draft', ['a', '\x1b'], ['interrupt']],
    ['Tab completes', ['/m', '\t'], ['complete']],
    ['Ctrl-D leaves, if nothing is written', ['\x04', 'a', '\x04'], ['leave']],
    ['a pasted Enter sends nothing', ['\x1b[200~y\r\x1b[201~'], []],
  ])('%s', (_, pieces, expected) => {
    expect(write(pieces).intents).toEqual(expected)
  })
})

test('earlier prompts come back with the arrows, and the draft after them', () => {
  const history = ['first', 'second'].reduce(remember, NEW_DRAFT)
  const { draft } = write(['own', '\x1b[A', '\x1b[A', '\x1b[A'], history)
  expect(shown(draft)).toBe('first|')
  expect(shown(write(['\x1b[B', '\x1b[B', '\x1b[B'], draft).draft)).toBe('own|')
  expect(sent(write(['second'], history).draft).history).toEqual(['first', 'second'])
})

test('any keys leave the caret inside of the text', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '\x7f',
      '\x1b[D',
      '\x1b[C',
      '\x1b[A',
      '\x1b[B',
      '\x17',
      '\x15',
      '\x0b',
      '\x01',
      '\x05',
      '\n',
      '\x1bb',
      '\x1bf',
    ),
    fc.string({ unit: 'grapheme', maxLength: 4 }),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 8, max: 40 }), (pieces, columns) => {
      const { draft } = write(pieces)
      expect(draft.caret).toBeGreaterThanOrEqual(0)
      expect(draft.caret).toBeLessThanOrEqual(draft.text.length)
      const { lines, caret } = draftRows(draft, columns, '❯ ')
      expect(lines.length).toBeLessThanOrEqual(6)
      expect(caret?.row).toBeLessThan(lines.length)
      for (const line of lines) expect(widthOf(line)).toBeLessThan(columns)
    }),
  )
})

test('a long draft shows the lines around the caret', () => {
  const { draft } = write(
    [Array.from({ length: 9 }, (_, index) => `line ${index}`).join('\n')].map(
      (text) => `\x1b[200~${text}\x1b[201~`,
    ),
  )
  expect(draftRows(draft, 40, '❯ ').lines[0]).toBe('  line 3')
  const top = write(
    Array.from({ length: 8 }, () => '\x1b[A'),
    draft,
  ).draft
  expect(draftRows(top, 40, '❯ ').lines[0]).toBe('❯ line 0')
})
