import type { Usage } from '../../../model/index.ts'
import { compact, count, type Fields, fields } from '../../fields.ts'

/** Tokens of one call or one turn. Some agents count what they read from the cache as input, others do not. */
export function usageOf(native: Fields): Usage | undefined {
  const told = count(native, 'inputTokens')
  const out = count(native, 'outputTokens')
  if (told === undefined || out === undefined) return undefined
  const cacheRead = count(native, 'cachedReadTokens')
  const cacheWrite = count(native, 'cachedWriteTokens')
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0)
  const total = count(native, 'totalTokens')
  // Input and output alone make the total: the cached tokens are inside.
  const inside = total !== undefined && told + out === total && told >= cached
  const input = inside ? told - cached : told
  // Thoughts are output, and some agents count them apart: the total knows.
  const output = total === undefined ? out : Math.max(out, total - input - cached)
  return compact({
    input,
    output,
    cacheRead,
    cacheWrite,
    reasoning: count(native, 'thoughtTokens'),
    total: input + cached + output,
  })
}

/** What the answer to a prompt says: in the protocol's own place, or where Gemini puts it. */
export function usageOfAnswer(native: Fields): Usage | undefined {
  const usage = usageOf(fields(native, 'usage'))
  if (usage) return usage
  const quota = fields(fields(fields(native, '_meta'), 'quota'), 'token_count')
  const input = count(quota, 'input_tokens')
  const output = count(quota, 'output_tokens')
  return input === undefined || output === undefined ? undefined : { input, output, total: input + output }
}
