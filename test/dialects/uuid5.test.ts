import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { uuid5 } from '../../src/dialects/unified/uuid5.ts'

test('the example of RFC 9562 gives the documented id', () => {
  expect(uuid5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com')).toBe(
    '2ed6657d-e927-568b-95e1-2665a8aea6a2',
  )
})

test('any name gives the same id as node:crypto', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.string({ maxLength: 200 }), (namespace, name) => {
      const hash = createHash('sha1')
        .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
        .update(name)
      const bytes = hash.digest().subarray(0, 16)
      bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50
      bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
      expect(uuid5(namespace, name).replaceAll('-', '')).toBe(bytes.toString('hex'))
      expect(uuid5(namespace, name)).toMatch(/^.{8}-.{4}-5.{3}-[89ab].{3}-.{12}$/)
    }),
  )
})
