import type { AgentEvent } from '../dialects/ues-event.ts'
import { FACES, type MainstemError, type Outcome } from '../model/index.ts'
import type { AgentId, AgentOptions } from './adapter.ts'

/** A run that has no log to be told from: it never began, or the log broke. */
export interface Untold {
  agent: AgentId
  sessionId: string
  startedAt: number
  options: AgentOptions
}

export function initOf({ agent, sessionId, startedAt, options }: Untold): AgentEvent {
  const payload = { model: options.model ?? '', cwd: options.cwd ?? process.cwd(), tools: [] }
  return { type: 'init', agent, timestamp: startedAt, sessionId, payload }
}

/** Nobody counted anything in it. */
const NO_USAGE = { inputTokens: 0, outputTokens: 0, toolUses: 0, usageReported: false } as const

/** How such a run ends: with the reason, or because it was stopped. */
export function endOf({ agent, sessionId, startedAt }: Untold, error?: MainstemError): AgentEvent[] {
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
