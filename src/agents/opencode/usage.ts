import type { UsageReported } from '../../model/events/report.ts'
import { asCount, asFields, type Fields } from '../kit/fields.ts'

/** The usage of one step. OpenCode counts reasoning separately from the output. */
export function stepUsage({ tokens, cost }: Fields): UsageReported {
  const native = asFields(tokens)
  const cache = asFields(native.cache)
  const input = asCount(native.input)
  const shown = asCount(native.output)
  const reasoning = asCount(native.reasoning)
  const cacheRead = asCount(cache.read)
  const cacheWrite = asCount(cache.write)
  const output = shown === undefined ? undefined : shown + (reasoning ?? 0)
  const used: UsageReported = { type: 'usage.reported', scope: 'step', source: 'agent' }
  if (input !== undefined) used.input = input
  if (output !== undefined) used.output = output
  if (cacheRead !== undefined) used.cacheRead = cacheRead
  if (cacheWrite !== undefined) used.cacheWrite = cacheWrite
  if (reasoning !== undefined) used.reasoning = reasoning
  if (input !== undefined || output !== undefined) {
    used.total = (input ?? 0) + (output ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0)
  }
  if (typeof cost === 'number' && cost >= 0 && Number.isFinite(cost)) used.costUsd = cost
  return used
}
