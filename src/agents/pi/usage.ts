import { addUsage, isZeroUsage, type Usage } from '../../model/index.ts'
import { amount, compact, count, type Fields, fields } from '../kit/fields.ts'
import type { PiState } from './state.ts'

/** Its counts are disjoint, and reasoning is included in the output. A failed message has no counts. */
export function usageOf(native: Fields): Usage | undefined {
  const usage = compact({
    input: count(native, 'input'),
    output: count(native, 'output'),
    cacheRead: count(native, 'cacheRead'),
    cacheWrite: count(native, 'cacheWrite'),
    reasoning: count(native, 'reasoning'),
    total: count(native, 'totalTokens'),
    // An unknown price is reported as zero, which is not a price.
    costUsd: amount(fields(native, 'cost'), 'total') || undefined,
  })
  return isZeroUsage(usage) ? undefined : usage
}

/** Adds the usage of one model call to the turn. */
export function addToTurn(state: PiState, usage: Usage): void {
  state.turn.used = addUsage(state.turn.used, usage)
}
