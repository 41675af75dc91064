import { addUsage, isZeroUsage, type Usage } from '../../model/index.ts'
import { amount, compact, count, type Fields, fields } from '../fields.ts'
import type { State } from './state.ts'

/** Its counts are disjoint already, and reasoning is in the output. A message that failed counts nothing. */
export function usageOf(native: Fields): Usage | undefined {
  const usage = compact({
    input: count(native, 'input'),
    output: count(native, 'output'),
    cacheRead: count(native, 'cacheRead'),
    cacheWrite: count(native, 'cacheWrite'),
    reasoning: count(native, 'reasoning'),
    total: count(native, 'totalTokens'),
    // A model of which it knows no price costs nothing, which is no price.
    costUsd: amount(fields(native, 'cost'), 'total') || undefined,
  })
  return isZeroUsage(usage) ? undefined : usage
}

/** What one model call used is told at once, and counts for the turn. */
export function addToTurn(state: State, usage: Usage): void {
  state.used = addUsage(state.used, usage)
}
