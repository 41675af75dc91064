import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { Envelopes } from '../../src/framing/envelopes.ts'
import { fixtures } from '../agents/fixtures.ts'
import { expectSame } from './json-outcome.ts'

const item = (inner: unknown, type = 'item.completed') => `{"type":"${type}","item":${JSON.stringify(inner)}}`

function taught(...lines: readonly string[]): Envelopes {
  const envelopes = new Envelopes()
  for (const line of lines) envelopes.parse(line)
  return envelopes
}

/** What of a line the engine was asked to parse. */
function parsedOf(envelopes: Envelopes, line: string): string[] {
  const spy = vi.spyOn(JSON, 'parse')
  envelopes.parse(line)
  const texts = spy.mock.calls.map(([text]) => text)
  spy.mockRestore()
  return texts
}

afterEach(() => vi.restoreAllMocks())

describe('an envelope', () => {
  test('is known after one line, and then only what is in it is parsed', () => {
    const envelopes = taught(item({ id: 1 }))
    expect(parsedOf(envelopes, item({ id: 2, text: 'x' }))).toEqual(['{"id":2,"text":"x"}'])
    expect(envelopes.parse(item([3]))).toEqual({ type: 'item.completed', item: [3] })
  })

  test('is one of several', () => {
    const types = ['item.started', 'item.updated', 'item.completed', 'turn.completed', 'turn.failed']
    const envelopes = taught(...types.flatMap((type) => [item({}, type), item({}, type)]))
    for (const type of types)
      expect(parsedOf(envelopes, item({ of: type }, type))).toEqual([`{"of":"${type}"}`])
  })

  test('is forgotten when it is not heard of any more', () => {
    const envelopes = taught(item({ id: 1 }))
    for (let count = 0; count < 20; count++) envelopes.parse('7')
    expect(parsedOf(envelopes, item({ id: 2 }))).toEqual([item({ id: 2 })])
  })

  test.each([
    ['has a number in it', '{"type":"a text that is long","timestamp":1794773536739,"part":{}}'],
    ['is short', '{"a":"b","c":{}}'],
    ['is long', `{"a":"${'x'.repeat(200)}","c":{}}`],
    ['is around a string', '{"type":"item.completed","item":"text"}'],
    ['is a list', '["item.completed and something",{}]'],
    ['is written with spaces', '{"type": "item.completed", "item": {}}'],
    ['is not at the end', '{"item":{"a":"a text that is long"},"type":"item.completed"}'],
  ])('that %s is none', (_, line) => {
    expect(parsedOf(taught(line, line), line)).toEqual([line])
  })

  test('of anything is read as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.array(fc.json(), { minLength: 1, maxLength: 12 }), (inners) => {
        const envelopes = taught(item({}))
        for (const inner of inners) expectSame(envelopes, `{"type":"item.completed","item":${inner}}`)
      }),
    )
  })

  test('that is damaged is none', () => {
    const whole = item({ id: 'item_1', text: 'some words', more: [{}] })
    const damage = fc.record({
      at: fc.nat({ max: whole.length }),
      cut: fc.nat({ max: 3 }),
      put: fc.oneof(
        fc.constantFrom('"', '\\', '\\"', '\n', '\u0000', '}', '{', ',', '0', '-', ' ', ',"a":1', ''),
        fc.string(),
      ),
    })
    fc.assert(
      fc.property(damage, ({ at, cut, put }) => {
        expectSame(taught(item({})), whole.slice(0, at) + put + whole.slice(at + cut))
      }),
      { numRuns: 2_000 },
    )
  })

  test.each([
    ['a field more', ',"more":"text"'],
    ['the same field again', ',"item":{"id":2}'],
    ['another type', ',"type":"item.started"'],
  ])('with %s behind it is read whole', (_, more) => {
    const line = `${item({ id: 1 }).slice(0, -1)}${more}}`
    const envelopes = taught(item({}))
    expect(parsedOf(envelopes, line)).toContain(line)
    expectSame(envelopes, line)
  })

  test.each([
    ['comes twice', '{"type":"item.completed","type":"item.completed","item":{}}'],
    ['is a number, which every object puts first', '{"type":"item.completed","item":{},"1":"text"}'],
    ['is called __proto__', '{"type":"item.completed","__proto__":{"a":1}}'],
    ['is called __proto__ and another', '{"__proto__":"item.completed","item":{"a":1}}'],
    ['is written with escapes', '{"typ\\u0065":"item.completed","item":{}}'],
  ])('in which a key %s is read as JSON.parse does', (_, line) => {
    const envelopes = taught(line, line)
    expectSame(envelopes, line)
    expectSame(envelopes, line.replace('{}', '{"b":2}'))
    expect(Object.getPrototypeOf(envelopes.parse(line))).toBe(Object.prototype)
  })

  test.each(Object.entries(Object.groupBy(fixtures, ({ program }) => program)))(
    'every recorded line of %s, one after another, is read as JSON.parse does',
    (_, recordings = []) => {
      const envelopes = new Envelopes()
      for (const line of recordings.flatMap(({ lines }) => lines)) expectSame(envelopes, line.trimEnd())
      expect(recordings).not.toHaveLength(0)
    },
  )
})
