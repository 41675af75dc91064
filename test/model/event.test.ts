import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { Capabilities, Command, Entry, Event, Policy, SessionOptions } from '../../src/model/index.ts'
import { SAMPLES } from './samples.ts'

const SESSION = '3f1c2a4e-9d0b-4c5a-8e7f-0123456789ab'
const samples = Object.entries(SAMPLES)

describe.each(samples)('%s', (type, sample) => {
  it('is named noun.participle, or is a delta', () => {
    expect(type).toMatch(/^[a-z]+(?:\.input)?\.(?:[a-z]+ed(?:_over)?|[a-z]+n|delta)$/)
  })

  it('is accepted in its smallest form and comes back the same from JSON', () => {
    expect(Event.parse(JSON.parse(JSON.stringify(sample)))).toEqual(sample)
  })

  it('is refused with an undeclared field', () => {
    expect(Event.safeParse({ ...sample, surprise: 1 }).success).toBe(false)
  })

  it('is refused when a required field is missing', () => {
    for (const key of Object.keys(sample)) {
      const without = Object.fromEntries(Object.entries(sample).filter(([name]) => name !== key))
      expect(Event.safeParse(without).success, key).toBe(false)
    }
  })

  it('is refused with null in place of an absent field', () => {
    expect(Event.safeParse({ ...sample, parent: null, toolId: null, usage: null }).success).toBe(false)
  })
})

interface Schema {
  properties?: Record<string, unknown>
  additionalProperties?: unknown
}

/** Every object in a JSON Schema that names its properties, with the way to it. */
function* objects(schema: unknown, path: string): Generator<readonly [string, Schema]> {
  if (typeof schema !== 'object' || schema === null) return
  if ('properties' in schema && 'type' in schema) yield [path, schema as Schema]
  for (const [key, value] of Object.entries(schema)) yield* objects(value, `${path}/${key}`)
}

describe('the schemas', () => {
  it('know every type of event, each once', () => {
    const types = Event.options.map((option) => option.shape.type.value)
    expect([...types].sort()).toEqual(Object.keys(SAMPLES).sort())
  })

  it.each([
    ['Event', Event],
    ['Entry', Entry],
    ['Command', Command],
    ['Policy', Policy],
    ['SessionOptions', SessionOptions],
    ['Capabilities', Capabilities],
  ])('%s is strict at every depth', (name, schema) => {
    const found = [...objects(z.toJSONSchema(schema), name)]
    expect(found.length).toBeGreaterThan(0)
    expect(found.filter(([, object]) => object.additionalProperties !== false).map(([path]) => path)).toEqual(
      [],
    )
  })

  it('accept an entry with a stamp, and refuse one without a valid place in its log', () => {
    const entry = { seq: 1, session: SESSION, at: 0, event: SAMPLES['session.started'] }
    expect(Entry.parse(entry)).toEqual(entry)
    for (const wrong of [
      { seq: 0 },
      { seq: 1.5 },
      { session: 'x' },
      { turn: 0 },
      { at: -1 },
      { native: 0 },
    ]) {
      expect(Entry.safeParse({ ...entry, ...wrong }).success, JSON.stringify(wrong)).toBe(false)
    }
  })
})
