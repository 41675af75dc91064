import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type LinePiece, LineSplitter } from '../../src/framing/lines.ts'
import { anyText, cutAt, cuts } from './arbitraries.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)

/** A line over the limit, put together again. */
type Line = string | { oversized: readonly number[] }

function joined(pieces: readonly LinePiece[]): Line[] {
  const lines: Line[] = []
  let oversized: number[] | undefined
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      expect(oversized, 'a line never comes between the chunks of another').toBeUndefined()
      lines.push(piece)
      continue
    }
    expect(piece.last || piece.oversized.length > 0, 'only the last chunk may be empty').toBe(true)
    oversized = [...(oversized ?? []), ...piece.oversized]
    if (piece.last) {
      lines.push({ oversized })
      oversized = undefined
    }
  }
  expect(oversized, 'an oversized line always ends').toBeUndefined()
  return lines
}

function split(chunks: readonly Uint8Array[], limit?: number): Line[] {
  const splitter = new LineSplitter(limit)
  return joined([...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()])
}

/** The rules once more, on bytes that are all there: no chunk, no state, no speed. */
function splitWhole(bytes: Uint8Array, limit: number): Line[] {
  const all = [...bytes]
  if (all[0] === 0xef && all[1] === 0xbb && all[2] === 0xbf) all.splice(0, 3)
  const lines: number[][] = [[]]
  for (const byte of all) {
    if (byte !== 0x0a) {
      lines.at(-1)?.push(byte)
      continue
    }
    if (lines.at(-1)?.at(-1) === 0x0d) lines.at(-1)?.pop()
    lines.push([])
  }
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  return lines
    .filter((line) => line.length > 0)
    .map((line) => (line.length > limit ? { oversized: line } : decoder.decode(Uint8Array.from(line))))
}

const part = (...bytes: number[]) => fc.constant(bytes)
const bytes = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: part(0x0a) },
      { weight: 2, arbitrary: part(0x0d) },
      { weight: 2, arbitrary: part(0x0d, 0x0a) },
      { weight: 1, arbitrary: part(0xef, 0xbb, 0xbf) },
      { weight: 1, arbitrary: part(0xe2, 0x80, 0xa8) },
      { weight: 1, arbitrary: part(0xf0, 0x9f, 0x9a, 0x80) },
      { weight: 1, arbitrary: part(0xe2, 0x82) },
      { weight: 3, arbitrary: fc.array(fc.nat({ max: 255 }), { maxLength: 12 }) },
      { weight: 3, arbitrary: fc.array(fc.integer({ min: 0x20, max: 0x7e }), { maxLength: 24 }) },
    ),
    { maxLength: 40 },
  )
  .map((parts) => Uint8Array.from(parts.flat()))

describe('lines', () => {
  test.each<[name: string, input: string | number[], lines: Line[]]>([
    ['lines end at LF', 'a\nb\n', ['a', 'b']],
    ['CRLF ends a line as LF does', 'a\r\nb\n', ['a', 'b']],
    ['only one CR belongs to the newline', 'a\r\r\nb\n', ['a\r', 'b']],
    ['a lone CR stays inside its line', 'a\rb\n', ['a\rb']],
    ['U+2028, U+2029 and U+0085 stay inside a line', 'a\u2028b\u2029c\u0085d\n', ['a\u2028b\u2029c\u0085d']],
    ['NUL, vertical tab and form feed stay inside a line', 'a\0b\vc\fd\n', ['a\0b\vc\fd']],
    ['a last line needs no newline', 'a\nb', ['a', 'b']],
    ['a CR at the very end is not part of a newline', 'a\r', ['a\r']],
    ['blank lines are left out', '\n\r\na\n\n\r\n', ['a']],
    ['a line of spaces is not blank', ' \n\t\n', [' ', '\t']],
    ['a BOM at the start is dropped', '\uFEFFa\n', ['a']],
    ['only one BOM is dropped', '\uFEFF\uFEFFa\n', ['\uFEFFa']],
    ['a BOM later on is text', 'a\n\uFEFFb\n', ['a', '\uFEFFb']],
    ['a BOM and nothing else is no line', '\uFEFF', []],
    ['half a BOM is broken text', [0xef, 0xbb], ['\uFFFD']],
    ['what begins like a BOM and is none is kept', [0xef, 0xbb, 0xbe, 0x0a], ['\uFEFE']],
    ['invalid UTF-8 becomes U+FFFD', [0x61, 0xff, 0x62, 0x0a], ['a\uFFFDb']],
    ['half a character does not swallow the newline', [0xe2, 0x82, 0x0a, 0x62, 0x0a], ['\uFFFD', 'b']],
    ['a character cut off at the end becomes U+FFFD', [0x61, 0xf0, 0x9f, 0x9a], ['a\uFFFD']],
    ['no bytes are no line', '', []],
  ])('%s, cut anywhere', (_name, input, lines) => {
    const whole = typeof input === 'string' ? utf8(input) : Uint8Array.from(input)
    expect(split([whole])).toEqual(lines)
    expect(split(cutAt(whole, [...whole.keys()]))).toEqual(lines)
    for (const cut of whole.keys()) expect(split(cutAt(whole, [cut]))).toEqual(lines)
  })

  test('a line is emitted at its newline without waiting for more', () => {
    const splitter = new LineSplitter()
    expect(splitter.push(utf8('a\nb'))).toEqual(['a'])
    expect(splitter.push(utf8('c'))).toEqual([])
    expect(splitter.push(utf8('\n'))).toEqual(['bc'])
    expect(splitter.end()).toEqual([])
  })

  test('chunking at any byte shows neither in the lines nor in what is oversized', () => {
    fc.assert(
      fc.property(bytes, cuts, fc.nat({ max: 24 }), (whole, places, limit) => {
        expect(split(cutAt(whole, places), limit)).toEqual(splitWhole(whole, limit))
      }),
      { numRuns: 3000 },
    )
  })

  test('joined with newlines again, the lines are the input but for blank lines', () => {
    fc.assert(
      fc.property(fc.array(anyText), cuts, (texts, places) => {
        const lines = texts.map((text) => text.replaceAll(/[\r\n\uFEFF]/g, '')).filter((text) => text !== '')
        const input = utf8(lines.map((line) => `${line}\n`).join(''))
        const output = split(cutAt(input, places)).map((line) => `${line}\n`)
        expect(utf8(output.join(''))).toEqual(input)
      }),
    )
  })
})

describe('a line over the limit', () => {
  const sixteen = 'x'.repeat(16)

  test.each<[name: string, input: string, lines: Line[]]>([
    ['a line of exactly the limit is whole', `${sixteen}\n`, [sixteen]],
    ['the CR of its newline does not count', `${sixteen}\r\n`, [sixteen]],
    ['one byte more is oversized', `${sixteen}y\n`, [{ oversized: [...utf8(`${sixteen}y`)] }]],
    ['a CR inside it counts', `${sixteen}\rz\n`, [{ oversized: [...utf8(`${sixteen}\rz`)] }]],
    ['its newline is not part of it', `${sixteen}yz\r\n`, [{ oversized: [...utf8(`${sixteen}yz`)] }]],
    ['only one CR belongs to its newline', `${sixteen}y\r\r\n`, [{ oversized: [...utf8(`${sixteen}y\r`)] }]],
    ['it may be the last', `${sixteen}yz`, [{ oversized: [...utf8(`${sixteen}yz`)] }]],
    ['a CR at the very end is the byte too many', `${sixteen}\r`, [{ oversized: [...utf8(`${sixteen}\r`)] }]],
    ['a CR at its very end is kept', `${sixteen}y\r`, [{ oversized: [...utf8(`${sixteen}y\r`)] }]],
    ['a BOM does not count', `\uFEFF${sixteen}\n`, [sixteen]],
    [
      'the stream goes on behind it',
      `a\n${sixteen}y\nb\n`,
      ['a', { oversized: [...utf8(`${sixteen}y`)] }, 'b'],
    ],
    [
      'two of them stay two',
      `${sixteen}y\n${sixteen}z\n`,
      [{ oversized: [...utf8(`${sixteen}y`)] }, { oversized: [...utf8(`${sixteen}z`)] }],
    ],
  ])('%s, cut anywhere', (_name, input, lines) => {
    const whole = utf8(input)
    expect(split([whole], 16)).toEqual(lines)
    expect(split(cutAt(whole, [...whole.keys()]), 16)).toEqual(lines)
    for (const cut of whole.keys()) expect(split(cutAt(whole, [cut]), 16)).toEqual(lines)
  })

  test('lines within the limit are complete, for any number of lines per chunk', () => {
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`)
    expect(split([utf8(`${lines.join('\n')}\n`)], 16)).toEqual(lines)
  })

  test('emitted bytes are never written to again', () => {
    const splitter = new LineSplitter(4)
    const early = [...splitter.push(utf8('abc')), ...splitter.push(utf8('de'))]
    splitter.push(utf8('\nwxyz'))
    splitter.push(utf8('\nuvw\n'))
    expect(joined([...early, { oversized: new Uint8Array(0), last: true }])).toEqual([
      { oversized: [...utf8('abcde')] },
    ])
  })

  test('a line of 100 MB passes in chunks of the size it came in, and the next line is read', () => {
    const splitter = new LineSplitter()
    const chunk = new Uint8Array(64 * 1024).fill(0x61)
    let passed = 0
    let largest = 0
    for (let index = 0; index < 1600; index++) {
      for (const piece of splitter.push(chunk)) {
        if (typeof piece === 'string') throw new Error('a part of the line was taken for a line')
        passed += piece.oversized.length
        largest = Math.max(largest, piece.oversized.length)
      }
    }
    expect(passed).toBe(1600 * chunk.length)
    expect(largest).toBe(16 * 1024 * 1024)
    expect(splitter.push(utf8('\nnext\n'))).toEqual([{ oversized: new Uint8Array(0), last: true }, 'next'])
  })
})
