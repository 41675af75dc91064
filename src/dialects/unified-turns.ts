import type { NoticeRaised } from '../model/events/report.ts'
import type { SessionEnded } from '../model/events/session.ts'
import type { TurnCompleted } from '../model/events/turn.ts'
import { FACES, type Outcome, type Usage } from '../model/index.ts'
import { SESSION_OUTCOMES, whyEnded } from './outcome-words.ts'
import type { Body, TokenUsage } from './unified-event.ts'

/** An error of the agent that ended nothing. */
export function error({ message, code, data }: NoticeRaised): Body {
  return { type: 'error', message, code: camelCase(code), ...nativeError(data) }
}

function nativeError(native: unknown): { nativeError?: string } {
  const text = typeof native === 'string' ? native : JSON.stringify(native)
  return text === undefined ? {} : { nativeError: text }
}

function camelCase(code: string): string {
  return code.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())
}

/** What is said of a turn's end, and of the session's if this was its last turn for now. */
export function turnEnd(event: TurnCompleted, last: boolean): readonly Body[] {
  const { outcome } = event
  const reason = whyEnded(event)
  const said: Body[] = []
  if (outcome === 'completed') said.push(turnCompleted(event))
  // To be interrupted is not to fail: the end of the session says it, unless other turns wait.
  else if (outcome !== 'interrupted' || !last) said.push(turnFailed(event, outcome))
  if (last) said.push(sessionEnded(outcome, reason))
  return said
}

/** What is said of a session that ends without a turn that says it. */
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

/** Here the input counts what was read from a cache or written to it. Three figures cannot be left out. */
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
