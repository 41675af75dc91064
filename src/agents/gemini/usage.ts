import { isZeroUsage, type Usage } from '../../model/index.ts'
import { compact, count, type Fields } from '../kit/fields.ts'

/**
 * Hidden thinking is included only in the total, so output is the total minus the prompt. A result without any count is
 * unknown usage.
 */
export function usageOf(stats: Fields): Usage | undefined {
  const total = count(stats, 'total_tokens')
  const prompt = count(stats, 'input_tokens')
  const shown = count(stats, 'output_tokens')
  if (total === undefined || prompt === undefined || shown === undefined) return undefined
  const cacheRead = count(stats, 'cached') ?? count(stats, 'cache_tokens')
  const usage = compact({
    input: Math.max(0, prompt - (cacheRead ?? 0)),
    output: Math.max(0, total - prompt),
    cacheRead,
    reasoning: count(stats, 'thought_tokens') ?? Math.max(0, total - prompt - shown),
    total,
  })
  return isZeroUsage(usage) ? undefined : usage
}
