import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KnownIds } from '../../src/model/known-ids.ts'

/** Many that differ in their beginnings alone, beside others of any kind. */
const id = fc.oneof(
  fc.tuple(fc.nat(9), fc.constantFrom('', '-the-same-end', '-446655440000')).map(([n, end]) => `${n}${end}`),
  fc.string({ maxLength: 3 }),
)

describe('known ids', () => {
  it('are those of a plain set, also where their ends are alike', () => {
    fc.assert(
      fc.property(fc.array(id, { maxLength: 60 }), (heard) => {
        const known = new KnownIds()
        const plain = new Set<string>()
        for (const one of heard) {
          expect(known.has(one)).toBe(plain.has(one))
          expect(known.add(one)).toBe(!plain.has(one))
          plain.add(one)
          expect(known.has(one)).toBe(true)
          expect(known.size).toBe(plain.size)
        }
        expect(new Set(known.values())).toEqual(plain)
      }),
      { numRuns: 1000 },
    )
  })

  it('are the same with their prefix and without it', () => {
    const spelled = fc.tuple(fc.boolean(), id).map(([isWhole, one]) => (isWhole ? `evt-${one}` : one))
    fc.assert(
      fc.property(fc.array(spelled, { maxLength: 60 }), (heard) => {
        const known = new KnownIds('evt-')
        const plain = new Set<string>()
        for (const one of heard) {
          const bare = one.replace(/^evt-/, '')
          expect(known.has(one)).toBe(plain.has(bare))
          expect(known.add(one)).toBe(!plain.has(bare))
          plain.add(bare)
          expect(known.size).toBe(plain.size)
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('are told apart at once, however many there are whose ends are alike', () => {
    const known = new KnownIds()
    const alike = Array.from({ length: 50_000 }, (_, n) => `${String(n).padStart(8, '0')}-the-same-end`)
    expect(alike.every((one) => known.add(one))).toBe(true)
    expect(alike.some((one) => known.add(one))).toBe(false)
    expect(known.size).toBe(alike.length)
  })
})
