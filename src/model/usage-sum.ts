import type { Usage } from './usage.types.ts'

const COUNTS = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning', 'total', 'costUsd'] as const

/** Combines field by field: agents may report every step, and a loop over keys takes many times as long. */
function combine(a: Usage, b: Usage, count: (left: number, right: number) => number): Usage {
  const both = (left: number | undefined, right: number | undefined) =>
    left === undefined && right === undefined ? undefined : count(left ?? 0, right ?? 0)
  const input = both(a.input, b.input)
  const output = both(a.output, b.output)
  const cacheRead = both(a.cacheRead, b.cacheRead)
  const cacheWrite = both(a.cacheWrite, b.cacheWrite)
  const reasoning = both(a.reasoning, b.reasoning)
  const total = both(a.total, b.total)
  const costUsd = both(a.costUsd, b.costUsd)
  const out: Usage = {}
  if (input !== undefined) out.input = input
  if (output !== undefined) out.output = output
  if (cacheRead !== undefined) out.cacheRead = cacheRead
  if (cacheWrite !== undefined) out.cacheWrite = cacheWrite
  if (reasoning !== undefined) out.reasoning = reasoning
  if (total !== undefined) out.total = total
  if (costUsd !== undefined) out.costUsd = costUsd
  return out
}

// Money is summed in binary floating point; ten decimals are far below a cent and hide its noise.
const tidy = (n: number) => Math.round(n * 1e10) / 1e10

/** Adds two usages. A count that is absent in both stays absent; the sum is partial if either is. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum = combine(a, b, (left, right) => tidy(left + right))
  if (a.partial || b.partial) sum.partial = true
  return sum
}

/** The usage since `before`, for agents that report running totals. Never negative. */
export function subtractUsage(now: Usage, before: Usage): Usage {
  const rest = combine(now, before, (left, right) => Math.max(0, tidy(left - right)))
  if (now.partial) rest.partial = true
  return rest
}

/** True if every reported count is zero. Some agents report an interrupted turn this way. */
export function isZeroUsage(usage: Usage): boolean {
  return COUNTS.every((key) => (usage[key] ?? 0) === 0)
}
