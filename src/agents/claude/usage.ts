import type { Usage } from '../../model/index.ts'
import { amount, compact, count, type Fields, fields, isFields } from '../kit/fields.ts'

export interface ModelUsage extends Usage {
  contextWindow?: number
}

/** Claude's counts are disjoint: input, cache reads and cache writes do not overlap. */
export function usageOf(native: Fields): Usage {
  return tokens({
    input: count(native, 'input_tokens'),
    output: count(native, 'output_tokens'),
    cacheRead: count(native, 'cache_read_input_tokens'),
    cacheWrite: count(native, 'cache_creation_input_tokens'),
    reasoning: count(fields(native, 'output_tokens_details'), 'thinking_tokens'),
  })
}

/** The usage by model: the only figures of a result that include sub-agents. */
export function modelUsagesOf(native: Fields): Map<string, ModelUsage> {
  const models = new Map<string, ModelUsage>()
  for (const [model, used] of Object.entries(native)) {
    if (!isFields(used)) continue
    const usage = tokens({
      input: count(used, 'inputTokens'),
      output: count(used, 'outputTokens'),
      cacheRead: count(used, 'cacheReadInputTokens'),
      cacheWrite: count(used, 'cacheCreationInputTokens'),
      reasoning: count(used, 'thinkingTokens'),
    })
    if (usage.total === undefined) continue
    const more = compact({ costUsd: amount(used, 'costUSD'), contextWindow: count(used, 'contextWindow') })
    models.set(model, { ...usage, ...more })
  }
  return models
}

type TokenCounts = {
  [K in 'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'reasoning']: number | undefined
}

function tokens(counts: TokenCounts): Usage {
  const { input, output, cacheRead = 0, cacheWrite = 0 } = counts
  const known = input !== undefined || output !== undefined
  return compact({
    ...counts,
    total: known ? (input ?? 0) + (output ?? 0) + cacheRead + cacheWrite : undefined,
  })
}
