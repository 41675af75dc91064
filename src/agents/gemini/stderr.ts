import type { LimitReported } from '../../model/events/report.ts'
import type { Decoded, Emitted } from '../agent.ts'
import { emit } from '../kit/decoded.ts'
import { compact } from '../kit/fields.ts'
import type { GeminiState } from './state.ts'
import { RULES_IGNORED } from './tool-rules.ts'

const ATTEMPT = /^Attempt (\d{1,4}) failed(?: with status (\d{3}))?[.:] ?(.*)$/
const DELAY = /Retrying after (\d{1,9})ms/

export function decodeStderr(state: GeminiState, line: string): Decoded {
  const ignored: Emitted[] = line.includes(RULES_IGNORED.text) ? [RULES_IGNORED.notice] : []
  return emit({ type: 'output.written', stream: 'stderr', line }, ...ignored, ...retries(state, line))
}

/** Only stderr reports retries: a failed attempt, and the delay on the same line or the next. */
function retries(state: GeminiState, line: string): Emitted[] {
  const waiting = state.retry
  if (!waiting && !line.startsWith('Attempt ')) return []
  state.retry = undefined
  const delay = DELAY.exec(line)?.[1]
  const delayMs = delay === undefined ? {} : { delayMs: Number(delay) }
  const attempt = ATTEMPT.exec(line)
  if (!attempt) return waiting ? [{ ...waiting, ...delayMs }] : []
  const emitted: Emitted[] = waiting ? [waiting] : []
  const status = attempt[2] === undefined ? undefined : Number(attempt[2])
  const retry: LimitReported = {
    type: 'limit.reported',
    kind: 'retry',
    attempt: Number(attempt[1]),
    ...compact({ status, message: attempt[3] || undefined }),
    ...delayMs,
  }
  if (line.includes('Retrying')) emitted.push(retry)
  else state.retry = retry
  return emitted
}
