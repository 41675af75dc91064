import { z } from 'zod'

const tokens = z.int().nonnegative().optional()

/**
 * Token counts with one meaning for every agent: `input` was neither read from nor written to a cache,
 * `output` includes `reasoning`, `total` = input + cacheRead + cacheWrite + output. Absent is not zero.
 * The usage of a turn or of a session covers every model call it caused, those of sub-agents included.
 */
export const Usage = z.strictObject({
  input: tokens,
  output: tokens,
  cacheRead: tokens,
  cacheWrite: tokens,
  reasoning: tokens,
  total: tokens,
  costUsd: z.number().nonnegative().optional(),
  partial: z
    .literal(true)
    .optional()
    .describe(
      'model calls are missing that the agent does not report, such as those of its sub-agents or one that was cut: each count is a minimum',
    ),
})
export type Usage = z.infer<typeof Usage>

const COUNTS = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning', 'total', 'costUsd'] as const

/** Field by field: some agents tell of every step, and by keys it would take many times as long. */
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

/** Adds two usages; a count that neither reports stays absent, and a partial one makes the sum partial. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum = combine(a, b, (left, right) => tidy(left + right))
  if (a.partial || b.partial) sum.partial = true
  return sum
}

/** What was used since `before`, for agents that report running totals; never negative. */
export function subtractUsage(now: Usage, before: Usage): Usage {
  const rest = combine(now, before, (left, right) => Math.max(0, tidy(left - right)))
  if (now.partial) rest.partial = true
  return rest
}

/** True when every reported count is zero, as some agents report an interrupted turn. */
export function isZeroUsage(usage: Usage): boolean {
  return COUNTS.every((key) => (usage[key] ?? 0) === 0)
}
