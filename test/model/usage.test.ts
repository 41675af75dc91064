import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addUsage, isZeroUsage, subtractUsage, Usage } from '../../src/model/index.ts'

const COUNTS = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning', 'total'] as const
const tokens = fc.integer({ min: 0, max: 10_000_000 })
/** Prices in millionths of a dollar: what agents report, and exact after ten decimals. */
const costUsd = fc.integer({ min: 0, max: 100_000_000 }).map((millionths) => millionths / 1e6)
const usage = fc.record(
  {
    input: tokens,
    output: tokens,
    cacheRead: tokens,
    cacheWrite: tokens,
    reasoning: tokens,
    total: tokens,
    costUsd,
  },
  { requiredKeys: [] },
)

describe('usage', () => {
  it('is the same in whatever order it is added', () => {
    fc.assert(
      fc.property(usage, usage, usage, (a, b, c) => {
        expect(addUsage(a, b)).toEqual(addUsage(b, a))
        expect(addUsage(addUsage(a, b), c)).toEqual(addUsage(a, addUsage(b, c)))
      }),
    )
  })

  it('is unchanged by adding nothing', () => {
    fc.assert(
      fc.property(usage, (a) => {
        expect(addUsage(a, {})).toEqual(a)
      }),
    )
  })

  it('keeps a count absent that neither side reports, and never invents a zero', () => {
    fc.assert(
      fc.property(usage, usage, (a, b) => {
        const reported = new Set([...Object.keys(a), ...Object.keys(b)])
        expect(new Set(Object.keys(addUsage(a, b)))).toEqual(reported)
      }),
    )
    expect(addUsage({}, {})).toEqual({})
    expect(addUsage({ input: 0 }, {})).toEqual({ input: 0 })
  })

  it('of a turn is what a running total grew by', () => {
    fc.assert(
      fc.property(usage, usage, (before, turn) => {
        const grown = subtractUsage(addUsage(before, turn), before)
        for (const key of [...COUNTS, 'costUsd'] as const) expect(grown[key] ?? 0).toBe(turn[key] ?? 0)
      }),
    )
  })

  it('is never negative, also when a running total starts again', () => {
    fc.assert(
      fc.property(usage, usage, (now, before) => {
        expect(Usage.safeParse(subtractUsage(now, before)).success).toBe(true)
      }),
    )
    expect(subtractUsage({ input: 5 }, { input: 8, output: 1 })).toEqual({ input: 0, output: 0 })
  })

  it('sums money without the noise of binary fractions', () => {
    expect(addUsage({ costUsd: 0.1 }, { costUsd: 0.2 })).toEqual({ costUsd: 0.3 })
  })

  it('does not change what it is given', () => {
    const [a, b] = [Object.freeze({ input: 1 }), Object.freeze({ input: 2, output: 3 })]
    expect([addUsage(a, b), subtractUsage(b, a)]).toEqual([
      { input: 3, output: 3 },
      { input: 1, output: 3 },
    ])
  })

  it('is zero only when no count is more than zero', () => {
    expect(isZeroUsage({})).toBe(true)
    expect(isZeroUsage({ input: 0, costUsd: 0 })).toBe(true)
    fc.assert(
      fc.property(usage, (a) => {
        expect(isZeroUsage(a)).toBe(Object.values(a).every((count) => count === 0))
      }),
    )
  })

  it('is refused with negative, broken or unknown counts', () => {
    for (const wrong of [
      { input: -1 },
      { input: 1.5 },
      { costUsd: -0.1 },
      { inputTokens: 1 },
      { total: null },
    ]) {
      expect(Usage.safeParse(wrong).success, JSON.stringify(wrong)).toBe(false)
    }
  })
})
