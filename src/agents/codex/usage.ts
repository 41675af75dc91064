import type { Usage } from '../../model/index.ts'
import { compact, count, type Fields } from '../kit/fields.ts'

/** The same fields in two spellings: `codex exec` writes snake_case, the app-server camelCase. */
const SPELLINGS = {
  exec: {
    input: 'input_tokens',
    cacheRead: 'cached_input_tokens',
    cacheWrite: 'cache_write_input_tokens',
    output: 'output_tokens',
    reasoning: 'reasoning_output_tokens',
  },
  appServer: {
    input: 'inputTokens',
    cacheRead: 'cachedInputTokens',
    cacheWrite: 'cacheWriteInputTokens',
    output: 'outputTokens',
    reasoning: 'reasoningOutputTokens',
  },
} as const

/** Codex includes cached tokens in the input; undefined when it reports neither input nor output. */
export function usageOf(native: Fields, spelling: keyof typeof SPELLINGS): Usage | undefined {
  const keys = SPELLINGS[spelling]
  const all = count(native, keys.input)
  const output = count(native, keys.output)
  if (all === undefined && output === undefined) return undefined
  const cacheRead = count(native, keys.cacheRead)
  const cacheWrite = count(native, keys.cacheWrite)
  const input = all === undefined ? undefined : Math.max(0, all - (cacheRead ?? 0) - (cacheWrite ?? 0))
  return compact({
    input,
    output,
    cacheRead,
    cacheWrite,
    reasoning: count(native, keys.reasoning),
    total: all === undefined || output === undefined ? undefined : all + output,
  })
}
