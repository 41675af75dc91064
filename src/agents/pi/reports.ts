import type { Decoded } from '../agent.ts'
import { emit } from '../kit/decoded.ts'
import { amount, compact, count, type Fields, fields, flag, text } from '../kit/fields.ts'
import { statusOf } from './errors.ts'
import type { PiState } from './state.ts'
import { addToTurn, usageOf } from './usage.ts'

/** A failed model call is retried, for an answer or for a summary. */
export function decodeRetry(_state: PiState, native: Fields): Decoded {
  const message = text(native, 'errorMessage')
  return emit({
    type: 'limit.reported',
    kind: 'retry',
    ...compact({
      attempt: count(native, 'attempt'),
      of: count(native, 'maxAttempts'),
      delayMs: amount(native, 'delayMs'),
      status: message === undefined ? undefined : statusOf(message),
      message,
    }),
  })
}

export function decodeCompaction(state: PiState, native: Fields): Decoded {
  const trigger = text(native, 'reason')
  const result = fields(native, 'result')
  if (native.result === undefined) {
    const cut = flag(native, 'aborted') ? 'the compaction was interrupted' : 'the compaction failed'
    const message = text(native, 'errorMessage') ?? cut
    return emit({
      type: 'notice.raised',
      level: 'warning',
      code: 'agent_warning',
      message,
      data: compact({ trigger }),
    })
  }
  const usage = usageOf(fields(result, 'usage'))
  if (usage && state.turn.open) addToTurn(state, usage)
  const figures = { before: count(result, 'tokensBefore'), after: count(result, 'estimatedTokensAfter') }
  return emit({ type: 'context.compacted', ...compact({ ...figures, trigger }) })
}

export function decodeExtensionError(_state: PiState, native: Fields): Decoded {
  const data = compact({ extension: text(native, 'extensionPath'), event: text(native, 'event') })
  return emit({
    type: 'notice.raised',
    level: 'error',
    code: 'agent_error',
    message: text(native, 'error') ?? '',
    data,
  })
}
