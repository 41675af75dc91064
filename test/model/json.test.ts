import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonCopy } from '../../src/model/text/json.ts'
import { EDITED, editAll } from '../edit-all.ts'
import { runs } from '../long.ts'

const key = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'toString', '0'))
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { depthSize: 'medium' },
    fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constant(null)),
    fc.array(tie('json'), { maxLength: 5 }),
    // Parsed, because an assignment to `__proto__` would set the prototype.
    fc.array(fc.tuple(key, tie('json')), { maxLength: 5 }).map((fields) => JSON.parse(textOf(fields))),
  ),
}))

function textOf(fields: readonly (readonly [string, unknown])[]): string {
  return `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join()}}`
}

test('a copy has the text of the original, and editing it leaves the original unchanged', () => {
  fc.assert(
    fc.property(json, (value) => {
      const text = JSON.stringify(value)
      const copy = jsonCopy(value)
      expect(JSON.stringify(copy)).toBe(text)
      editAll(copy)
      expect(JSON.stringify(value)).toBe(text)
    }),
    { numRuns: runs(200, 2_000) },
  )
})

test('a field named __proto__ is copied as a field', () => {
  const value: unknown = JSON.parse('{"__proto__":{"a":[1]}}')
  const copy = jsonCopy(value)
  expect(JSON.stringify(copy)).toBe('{"__proto__":{"a":[1]}}')
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
  editAll(copy)
  expect(JSON.stringify(value)).not.toContain(EDITED)
})
