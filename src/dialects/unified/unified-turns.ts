import type { NoticeRaised } from '../../model/events/report.ts'
import type { SessionEnded } from '../../model/events/session.ts'
import type { TurnCompleted } from '../../model/events/turn.ts'
import { FACES, type Outcome, type Usage } from '../../model/index.ts'
import { SESSION_OUTCOMES, whyEnded } from '../kit/outcome-messages.ts'
import type { TokenUsage } from './unified-config.ts'
import type { Body } from './unified-event.ts'

/** An error of the agent that did not end the turn. */
export function error({ message, code, data }: NoticeRaised): Body {
  return { type: 'error', message, code: camelCase(code), ...nativeError(data) }
}

/** A warning or an information. */
export function notice({ message, code, level, data }: NoticeRaised): readonly Body[] {
  if (level === 'error') return []
  return [{ type: 'noticeRaised', level, message, code: camelCase(code), ...nativeError(data) }]
}

function nativeError(native: unknown): { nativeError?: string } {
  const text = typeof native === 'string' ? native : JSON.stringify(native)
  return text === undefined ? {} : { nativeError: text }
}

function camelCase(code: string): string {
  return code.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())
}

/** Returns the messages for the end of a turn, and for the end of the session if this was its last turn for now. */
export function turnEnd(event: TurnCompleted, last: boolean): readonly Body[] {
  const { outcome } = event
  const reason = whyEnded(event)
  const messages: Body[] = []
  if (outcome === 'completed') messages.push(turnCompleted(event))
  // An interruption is not a failure: the end of the session reports it, unless other turns are queued.
  else if (outcome !== 'interrupted' || !last) messages.push(turnFailed(event, outcome))
  if (last) messages.push(sessionEnded(outcome, reason))
  return messages
}

/** Returns the message for a session that ends without a turn that reports it. */
export function sessionEnd({ reason, error: why }: SessionEnded): Body {
  const outcome = SESSION_OUTCOMES[reason]
  return {
    type: 'sessionEnded',
    reason: FACES[outcome].unified,
    ...(why && { error: why.message, code: camelCase(why.code), ...nativeError(why.native) }),
    ...(outcome !== 'completed' && { outcome }),
  }
}

function sessionEnded(outcome: Outcome, reason: string): Body {
  return {
    type: 'sessionEnded',
    reason: FACES[outcome].unified,
    ...(outcome !== 'completed' && outcome !== 'interrupted' && { error: reason }),
    ...(outcome !== 'completed' && { outcome }),
  }
}

function turnCompleted({ turn, usage = {}, durationMs }: TurnCompleted): Body {
  return {
    type: 'turnCompleted',
    turnNumber: turn,
    usage: tokenUsage(usage),
    durationMs,
    ...(!isReported(usage) && { usageReported: false }),
    ...(usage.partial && { usagePartial: true }),
  }
}

function turnFailed(event: TurnCompleted, outcome: Exclude<Outcome, 'completed'>): Body {
  const { turn, usage, durationMs, error: why } = event
  return {
    type: 'turnFailed',
    turnNumber: turn,
    error: whyEnded(event),
    ...(why && { code: camelCase(why.code), ...nativeError(why.native) }),
    outcome,
    ...(usage && isReported(usage) && { usage: tokenUsage(usage) }),
    ...(usage?.partial && { usagePartial: true }),
    durationMs,
  }
}

function isReported({ input, output }: Usage): boolean {
  return input !== undefined && output !== undefined
}

/** In this protocol the input count includes cache reads and writes. Three counts are required. */
function tokenUsage({ input = 0, output = 0, cacheRead, cacheWrite = 0, reasoning }: Usage): TokenUsage {
  const inputTokens = input + (cacheRead ?? 0) + cacheWrite
  return {
    inputTokens,
    outputTokens: output,
    ...(cacheRead !== undefined && { cachedTokens: cacheRead }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
    totalTokens: inputTokens + output,
  }
}
