import { addUsage, type Usage } from '../../../model/index.ts'
import { compact, count, type Fields, fields, isFields, list } from '../../kit/fields.ts'

/** The tokens of one call or turn. Some agents include cache reads in the input, others do not. */
export function usageOf(native: Fields): Usage | undefined {
  const inputTokens = count(native, 'inputTokens')
  const out = count(native, 'outputTokens')
  if (inputTokens === undefined || out === undefined) return undefined
  const cacheRead = count(native, 'cachedReadTokens')
  const cacheWrite = count(native, 'cachedWriteTokens')
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0)
  const total = count(native, 'totalTokens')
  // If input and output equal the total, the input includes the cached tokens.
  const inside = total !== undefined && inputTokens + out === total && inputTokens >= cached
  const input = inside ? inputTokens - cached : inputTokens
  // Thinking counts as output; some agents count it separately, which the total reveals.
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

/** The usage in the response to a prompt: in the protocol's field, or in Gemini's. */
export function usageOfAnswer(native: Fields): Usage | undefined {
  const usage = usageOf(fields(native, 'usage'))
  if (usage) return usage
  const quota = fields(fields(fields(native, '_meta'), 'quota'), 'token_count')
  const input = count(quota, 'input_tokens')
  const output = count(quota, 'output_tokens')
  return input === undefined || output === undefined ? undefined : { input, output, total: input + output }
}

/** The usage of all model calls of a turn, summed over the models: those of sub-agents and of the program included. */
export function usageByModel(native: Fields): Usage | undefined {
  const rows = list(fields(fields(native, '_meta'), 'quota'), 'model_usage').filter(isFields)
  let sum: Usage | undefined
  for (const row of rows) {
    const counts = fields(row, 'token_count')
    const usage = usageOf({ ...counts, cachedReadTokens: counts.cachedInputTokens })
    if (usage) sum = sum ? addUsage(sum, usage) : usage
  }
  return sum
}
