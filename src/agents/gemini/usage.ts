import { isZeroUsage, type Usage } from '../../model/index.ts'
import { compact, count, type Fields } from '../fields.ts'

/**
 * Hidden thoughts are in the total and in nothing else, so output is what the total has beyond the prompt.
 * A result that counts nothing at all knows nothing.
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
