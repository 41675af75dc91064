import type { Usage } from '../../model/index.ts'
import { compact, count, type Fields, fields, number } from '../fields.ts'

/** What one step used. OpenCode counts reasoning beside the output, not inside it. */
export function usageOf(step: Fields): Usage {
  const tokens = fields(step, 'tokens')
  const cache = fields(tokens, 'cache')
  const input = count(tokens, 'input')
  const shown = count(tokens, 'output')
  const reasoning = count(tokens, 'reasoning')
  const cacheRead = count(cache, 'read')
  const cacheWrite = count(cache, 'write')
  const output = shown === undefined ? undefined : shown + (reasoning ?? 0)
  const known = input !== undefined || output !== undefined
  const cost = number(step, 'cost')
  return compact({
    input,
    output,
    cacheRead,
    cacheWrite,
    reasoning,
    total: known ? (input ?? 0) + (output ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0) : undefined,
    costUsd: cost !== undefined && cost >= 0 ? cost : undefined,
  })
}
