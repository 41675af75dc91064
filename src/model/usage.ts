import { z } from 'zod'

const tokens = z.int().nonnegative().optional()

/**
 * Token counts with one meaning for every agent: `input` was neither read from nor written to a cache,
 * `output` includes `reasoning`, `total` = input + cacheRead + cacheWrite + output. Absent is not zero.
 */
export const Usage = z.strictObject({
  input: tokens,
  output: tokens,
  cacheRead: tokens,
  cacheWrite: tokens,
  reasoning: tokens,
  total: tokens,
  costUsd: z.number().nonnegative().optional(),
})
export type Usage = z.infer<typeof Usage>

const COUNTS = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning', 'total', 'costUsd'] as const

function combine(a: Usage, b: Usage, count: (left: number, right: number) => number): Usage {
  const out: Usage = {}
  for (const key of COUNTS) {
    const left = a[key]
    const right = b[key]
    if (left !== undefined || right !== undefined) out[key] = count(left ?? 0, right ?? 0)
  }
  return out
}

// Money is summed in binary floating point; ten decimals are far below a cent and hide its noise.
const tidy = (n: number) => Math.round(n * 1e10) / 1e10

/** Adds two usages; a count that neither reports stays absent. */
export function addUsage(a: Usage, b: Usage): Usage {
  return combine(a, b, (left, right) => tidy(left + right))
}

/** What was used since `before`, for agents that report running totals; never negative. */
export function subtractUsage(now: Usage, before: Usage): Usage {
  return combine(now, before, (left, right) => Math.max(0, tidy(left - right)))
}

/** True when every reported count is zero, as some agents report an interrupted turn. */
export function isZeroUsage(usage: Usage): boolean {
  return COUNTS.every((key) => (usage[key] ?? 0) === 0)
}
