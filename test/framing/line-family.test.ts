import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LineFamily } from '../../src/framing/line-family.ts'
import { fixtures } from '../agents/fixtures.ts'
import { expectSame } from './json-outcome.ts'

const PADDING = 'x'.repeat(160)

/** A line of a token stream, with a part that never changes. */
function piece(text: string, id = '0', at: number | string = 7): string {
  const written = JSON.stringify(text)
  return `{"type":"delta","always":{"padding":"${PADDING}"},"event":{"text":${written},"id":"${id}"},"at":${at}}`
}

/** Siblings enough that the next one is read as a member. */
function taught(...lines: readonly string[]): LineFamily {
  const family = new LineFamily()
  for (const line of lines) family.parse(line)
  return family
}

const anyPiece = fc.record({
  text: fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme', maxLength: 40 })),
  id: fc.stringMatching(/^[a-z0-9-]{0,40}$/),
  at: fc.oneof(fc.nat(), fc.double(), fc.maxSafeInteger(), fc.constantFrom('007', '1e3', '-0', 'true', '""')),
})

/** Every field has two or three values, so that lines which teach often agree in what later ones do not. */
const fewValued = fc
  .record({
    isLong: fc.boolean(),
    word: fc.constantFrom('one', 'another word', '"'),
    id: fc.constantFrom('1', '2'),
    at: fc.constantFrom(1, 22, 0),
    flag: fc.constantFrom(true, false, null),
    kind: fc.constantFrom('a', 1, null),
    list: fc.constantFrom([], ['x'], ['y']),
    inner: fc.constantFrom({ word: 'one' }, { word: 'two' }, { word: 1 }, {}, null),
    isLast: fc.boolean(),
  })
  .map(({ isLong, isLast, inner, ...fields }) => {
    const padding = 'x'.repeat(isLong ? 500 : 499)
    return JSON.stringify(isLast ? { padding, ...fields, inner } : { padding, inner, ...fields })
  })

describe('a family of lines', () => {
  test('is known after two of them, and shares what never differs', () => {
    const family = taught(piece('a', '1', 1), piece('b', '2', 2))
    const [third, fourth] = [family.parse(piece('c', '3', 3)), family.parse(piece('', '4', 44))]
    expect(third).toEqual(JSON.parse(piece('c', '3', 3)))
    expect(fourth).toEqual(JSON.parse(piece('', '4', 44)))
    expect(fourth).toHaveProperty('always', expect.anything())
    expect(Reflect.get(Object(fourth), 'always')).toBe(Reflect.get(Object(third), 'always'))
    expect(Reflect.get(Object(fourth), 'event')).not.toBe(Reflect.get(Object(third), 'event'))
  })

  test('reads its members as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.array(anyPiece, { minLength: 1, maxLength: 12 }), (pieces) => {
        const family = taught(piece('a', '1', 1), piece('b', '2', 2))
        for (const { text, id, at } of pieces) {
          expectSame(family, piece(text, id, typeof at === 'number' ? JSON.stringify(at) : at))
        }
      }),
    )
  })

  const LONG = ['a text that is longer than a word', 'another one, which is as long'] as const
  const IDS = ['550e8400-e29b-41d4-a716-446655440000', '123e4567-e89b-12d3-a456-426614174000'] as const
  const taughtLong = () => taught(piece(LONG[0], IDS[0], 1), piece(LONG[1], IDS[1], 2))

  test('reads its members as JSON.parse does where several strings are long', () => {
    const longer = anyPiece.map(({ text, id, at }) => ({ text: LONG[0] + text, id: IDS[0] + id, at }))
    fc.assert(
      fc.property(fc.array(fc.oneof(anyPiece, longer), { minLength: 1, maxLength: 12 }), (pieces) => {
        const family = taughtLong()
        for (const { text, id, at } of pieces) {
          expectSame(family, piece(text, id, typeof at === 'number' ? JSON.stringify(at) : at))
        }
      }),
    )
  })

  test.each(Array.from({ length: 0x20 }, (_, code) => [code.toString(16), String.fromCharCode(code)]))(
    'takes no line for a member with the character %s as it is in a long string',
    (_, control) => {
      const whole = piece(`${LONG[0]}|${LONG[1]}`, IDS[1], 3)
      expectSame(taughtLong(), whole.replace('|', control))
    },
  )

  test.each([
    ['short', () => taught(piece('a', '1', 1), piece('b', '2', 2))],
    ['long', taughtLong],
  ])('takes no damaged line for a member, where strings are %s', (_, teach) => {
    const whole = piece('some words', '3b9e', 1234)
    const damage = fc.record({
      at: fc.nat({ max: whole.length }),
      cut: fc.nat({ max: 3 }),
      put: fc.oneof(
        fc.constantFrom('"', '\\', '\\"', '\n', '\u0000', '}', '{', ',', '0', '-', '.', ''),
        fc.string(),
      ),
    })
    fc.assert(
      fc.property(damage, ({ at, cut, put }) => {
        expectSame(teach(), whole.slice(0, at) + put + whole.slice(at + cut))
      }),
      { numRuns: 2_000 },
    )
  })

  test('is known wherever in the line its differences are', () => {
    for (let length = 0; length < 100; length++) {
      const line = (word: string) =>
        `{"always":{"padding":"${'x'.repeat(length)}"},"word":"${word}","end":"${PADDING}"}`
      const family = taught(line('1'), line('2'))
      const [third, fourth] = [family.parse(line('three')), family.parse(line(''))]
      expect(Reflect.get(Object(fourth), 'always')).toBe(Reflect.get(Object(third), 'always'))
    }
  })

  test('reads strings with escapes as members, and knows an escaped quote from the end', () => {
    const family = taught(piece('say "a"\n', '1', 1), piece('tell \\', '2', 2))
    const [third, fourth] = ['"', 'a longer one with "quotes" and \\'].map((text) => {
      expectSame(family, piece(text, '3', 3))
      return family.parse(piece(text, '3', 3))
    })
    expect(Reflect.get(Object(fourth), 'always')).toBe(Reflect.get(Object(third), 'always'))
  })

  test('what two lines had in common may differ in any later one', () => {
    fc.assert(
      fc.property(fc.array(fewValued, { minLength: 3, maxLength: 40 }), (lines) => {
        const family = new LineFamily()
        for (const line of lines) expectSame(family, line)
      }),
      { numRuns: 1_000 },
    )
  })

  const fieldsOf = (x: number) => 'abcdefgh'.split('').map((key) => `"${key}":"${x}"`)
  test.each([
    ['for their differences', (x: number) => `{"padding":{"of":"${'x'.repeat(60)}"},${fieldsOf(x).join()}}`],
    ['for their length', (x: number) => `{"padding":{"of":"x"},"a":"${`${x} and on `.repeat(40)}"}`],
  ])('lines that share too little %s are parsed whole', (_, line) => {
    const family = taught(line(1000), line(2000))
    const [third, fourth] = [family.parse(line(3000)), family.parse(line(4000))]
    expect(fourth).toEqual(JSON.parse(line(4000)))
    expect(Reflect.get(Object(fourth), 'padding')).not.toBe(Reflect.get(Object(third), 'padding'))
  })

  const line = (fields: string) => `{"padding":"${PADDING}",${fields}}`
  test.each([
    ['comes twice', (x: string, y: string) => line(`"a":"${x}","a":"${y}"`)],
    ['comes again with another inside', (x: string, y: string) => line(`"a":{},"b":"${x}","a":{"c":"${y}"}`)],
    ['is a number, which every object puts first', (x: string, y: string) => line(`"b":"${x}","1":"${y}"`)],
    ['is called __proto__', (x: string, y: string) => line(`"__proto__":"${x}","b":{"__proto__":"${y}"}`)],
    ['is written with escapes', (x: string, y: string) => line(`"\\u0061":"${x}","b":"${y}"`)],
  ])('a key that %s is read as JSON.parse does', (_, written) => {
    // Taught by lines in which both strings are the same, so that nothing shows yet which is which.
    const family = taught(written('one', 'one'), written('two', 'two'))
    for (const [x, y] of ['three', 'four', 'a longer one than these', '', 'one'].entries()) {
      expectSame(family, written(y, String(x)))
    }
  })

  test('a key that comes twice in one of two lines makes them no siblings', () => {
    const family = taught(line('"a":"x"'), line('"a":"y","a":"y"'))
    expectSame(family, line('"a":"z","a":"y"'))
  })

  test.each(Object.entries(Object.groupBy(fixtures, ({ program }) => program)))(
    'every recorded line of %s, one after another, is read as JSON.parse does',
    (_, recordings = []) => {
      const family = new LineFamily()
      for (const line of recordings.flatMap(({ lines }) => lines)) expectSame(family, line.trimEnd())
      expect(recordings).not.toHaveLength(0)
    },
  )
})
