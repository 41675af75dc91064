import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonFrame } from '../../src/framing/frame.ts'
import { editAll } from '../edit-all.ts'
import { anyText } from './arbitraries.ts'

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

describe('a frame of JSON', () => {
  test('keeps its text next to its value', () => {
    expect(jsonFrame('stdout', '{"a": 1}')).toMatchObject({
      stream: 'stdout',
      text: '{"a": 1}',
      value: { a: 1 },
    })
  })

  test.each(['', 'hello', '{"a":', '{"a":1}{"b":2}', '\uFEFF{}', 'NaN', '\0'])('%j has no value', (text) => {
    expect(jsonFrame('rpc', text)).toEqual({ stream: 'rpc', text, value: undefined })
  })

  test('a JSON null is a value', () => {
    expect(jsonFrame('rpc', 'null')).toMatchObject({ stream: 'rpc', text: 'null', value: null })
  })

  test('nesting that cannot be written again has no value', () => {
    const arrays = nested(200_000)
    const objects = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`
    expect(jsonFrame('stdout', arrays)).toMatchObject({ stream: 'stdout', text: arrays, value: undefined })
    expect(jsonFrame('stdout', objects)).toMatchObject({ stream: 'stdout', text: objects, value: undefined })
  })

  test('one deep branch beside many flat ones is found', () => {
    const text = `[${'{},'.repeat(5000)}${nested(5000)}]`
    expect(jsonFrame('stdout', text).value).toBeUndefined()
  })

  test('nesting as deep as people write it has a value, in a long text as in a short one', () => {
    expect(jsonFrame('stdout', nested(100)).value).toBeDefined()
    expect(jsonFrame('stdout', `[${nested(500)},"${'x'.repeat(5000)}"]`).value).toBeDefined()
  })

  test('a key named __proto__ is data and changes no prototype', () => {
    const { value } = jsonFrame('stdout', '{"__proto__":{"polluted":true},"constructor":{"prototype":{}}}')
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(Object.keys(Object(value))).toEqual(['__proto__', 'constructor'])
    expect('polluted' in {}).toBe(false)
  })

  test.each([
    ['a number beyond range', '1e400', Number.POSITIVE_INFINITY],
    ['an integer beyond precision', '9007199254740993', 9007199254740992],
    ['a lone surrogate', '"\\ud800"', '\ud800'],
    ['a lone surrogate that is not escaped', '"\ud800"', '\ud800'],
    ['a NUL', '"\\u0000"', '\0'],
    ['line separators', '"\u2028\u2029"', '\u2028\u2029'],
  ])('%s keeps its exact text for every value', (_name, text, value) => {
    expect(jsonFrame('stdout', text)).toMatchObject({ stream: 'stdout', text, value })
  })

  test('any text becomes a frame', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.json()), (text) => {
        expect(jsonFrame('stdout', text).text).toBe(text)
      }),
    )
  })
})

describe('two frames', () => {
  const line = fc.oneof(
    fc.json({ maxDepth: 3 }),
    fc.constantFrom('no JSON', '{"a":', 'null'),
    // Long lines that differ in one field.
    fc
      .nat(9)
      .map((n) => `{"type":"call","id":"${n}","input":{"path":"/a","more":[{"long":"${'x'.repeat(200)}"}]}}`),
  )

  test('share no object, even if their texts are similar', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 40 }), (texts) => {
        const frames = texts.map((text) => jsonFrame('stdout', text))
        for (const { value } of frames) editAll(value)
        for (const text of texts) {
          const { value } = jsonFrame('stdout', text)
          expect(value).toEqual(parsed(text))
          editAll(value)
        }
      }),
    )
  })
})

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
