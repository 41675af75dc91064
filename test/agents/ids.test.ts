import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { IdCounts, KnownIds, OpenItems } from '../../src/agents/ids.ts'

const id = fc.oneof(
  fc.nat(40).map((number) => `item_${number}`),
  fc.nat(40).map((number) => `item_0${number}`),
  fc.nat(40).map((number) => `item_${number}x`),
  fc.nat(3_000_000).map((number) => `call-${number}`),
  fc.nat(40).map(String),
  fc.constantFrom('', 'item_', 'item_00', '0', '00', 'item_1048575', 'item_1048576', 'item_99999999'),
  fc.string({ maxLength: 3 }),
)

describe('counts of ids', () => {
  it('equal those of a plain map, for any ids', () => {
    fc.assert(
      fc.property(fc.array(id, { maxLength: 60 }), fc.array(id, { maxLength: 20 }), (used, asked) => {
        const counts = new IdCounts()
        const plain = new Map<string, number>()
        for (const one of used) {
          expect(counts.get(one)).toBe(plain.get(one))
          expect(counts.add(one)).toBe(plain.get(one))
          plain.set(one, (plain.get(one) ?? 0) + 1)
        }
        for (const one of [...used, ...asked]) {
          expect(counts.get(one)).toBe(plain.get(one))
          expect(counts.has(one)).toBe(plain.has(one))
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('take no longer for ids of any length', () => {
    const counts = new IdCounts()
    const long = '1'.repeat(1_000_000)
    for (const one of [`${long}x`, `x${long}`, `x${long}`]) counts.add(one)
    expect([counts.get(`${long}x`), counts.get(`x${long}`), counts.get('x1')]).toEqual([1, 2, undefined])
  })

  it('work for as many ids as a long session has', () => {
    const counts = new IdCounts()
    for (let number = 0; number < 300_000; number += 3) counts.add(`item_${number}`)
    const uses = [0, 1, 2, 3, 299_997, 299_998].map((number) => counts.get(`item_${number}`))
    expect(uses).toEqual([1, undefined, undefined, 1, 1, undefined])
  })
})

describe('open items', () => {
  it('are those of a plain map, in its order, few or many', () => {
    const step = fc.tuple(fc.constantFrom('set', 'delete', 'get'), fc.nat(20).map(String), fc.nat())
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const open = new OpenItems<number>()
        const plain = new Map<string, number>()
        for (const [what, one, item] of steps) {
          if (what === 'delete') expect(open.delete(one)).toBe(plain.delete(one))
          if (what === 'set') {
            open.set(one, item)
            plain.set(one, item)
          }
          expect(open.get(one)).toBe(plain.get(one))
          expect(open.has(one)).toBe(plain.has(one))
          expect([...open]).toEqual([...plain])
          expect([open.keys(), open.values()]).toEqual([[...plain.keys()], [...plain.values()]])
        }
      }),
    )
  })

  it('may be closed while they are looked at', () => {
    const open = new OpenItems<number>()
    for (const [at, one] of ['a', 'b', 'c'].entries()) open.set(one, at)
    const seen: string[] = []
    for (const [one] of open) if (open.delete(one)) seen.push(one)
    expect([seen, [...open]]).toEqual([['a', 'b', 'c'], []])
  })
})

/** Ids that differ only at the start, and arbitrary ones. */
const similarId = fc.oneof(
  fc.tuple(fc.nat(9), fc.constantFrom('', '-the-same-end', '-446655440000')).map(([n, end]) => `${n}${end}`),
  fc.string({ maxLength: 3 }),
)

describe('known ids', () => {
  it('are those of a plain set, also where their ends are alike', () => {
    fc.assert(
      fc.property(fc.array(similarId, { maxLength: 60 }), (heard) => {
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
    const spelled = fc.tuple(fc.boolean(), similarId).map(([isWhole, one]) => (isWhole ? `evt-${one}` : one))
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

  it('are distinguished, for any number of ids with equal ends', () => {
    const known = new KnownIds()
    const alike = Array.from({ length: 50_000 }, (_, n) => `${String(n).padStart(8, '0')}-the-same-end`)
    expect(alike.every((one) => known.add(one))).toBe(true)
    expect(alike.some((one) => known.add(one))).toBe(false)
    expect(known.size).toBe(alike.length)
  })
})
