import type { AgentEvent } from '../dialects/ues/ues-event.ts'
import { FACES, type MainstemError, type Outcome } from '../model/index.ts'
import type { AgentOptions } from './adapter.ts'
import type { AgentId } from './agent-id.types.ts'

/** A run without a readable log, because it did not start or its log failed. */
export interface UnloggedRun {
  agent: AgentId
  sessionId: string
  startedAt: number
  options: AgentOptions
}

/** The `init` event of the run. */
export function initOf({ agent, sessionId, startedAt, options }: UnloggedRun): AgentEvent {
  const payload = { model: options.model ?? '', cwd: options.cwd ?? process.cwd(), tools: [] }
  return { type: 'init', agent, timestamp: startedAt, sessionId, payload }
}

/** The usage of a run without a log is unknown. */
const NO_USAGE = { inputTokens: 0, outputTokens: 0, toolUses: 0, usageReported: false } as const

/** The last events of the run: the error if there is one, then `done`. */
export function endOf({ agent, sessionId, startedAt }: UnloggedRun, error?: MainstemError): AgentEvent[] {
  const timestamp = Date.now()
  const base = { agent, timestamp, sessionId }
  const outcome: Outcome = error ? 'failed' : 'interrupted'
  const done: AgentEvent = {
    type: 'done',
    ...base,
    payload: {
      status: FACES[outcome].ues,
      usage: NO_USAGE,
      durationMs: Math.max(0, timestamp - startedAt),
    },
    metadata: { outcome },
  }
  if (!error) return [done]
  const { code, message, details } = error
  const payload = { code, message, recoverable: false }
  return [{ type: 'error', ...base, payload, ...(details && { metadata: details }) }, done]
}
