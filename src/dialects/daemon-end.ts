import type { TurnCompleted } from '../model/events/turn.ts'
import { FACES, type Usage } from '../model/index.ts'
import type { StreamEvent } from './daemon-event.ts'
import { whyEnded } from './outcome-messages.ts'

interface TerminalContext {
  /** The agent's session id, or the Mainstem id if the agent has none. */
  sessionId: string
  showsRaw: boolean
}

/** Builds the message that ends the last exchange of a turn. */
export function terminalOf(event: TurnCompleted, { sessionId, showsRaw }: TerminalContext): StreamEvent {
  const { outcome, error, durationMs, usage } = event
  const type = stoppedFromOutside(event) ? 'interrupted' : FACES[outcome].daemon
  switch (type) {
    case 'result':
      return {
        type,
        session_id: sessionId,
        ...(outcome !== 'completed' && { outcome }),
        ...(showsRaw && { raw: { duration_ms: durationMs, ...(usage && { usage: usageOf(usage) }) } }),
      }
    case 'interrupted':
      return { type, ...(outcome !== 'interrupted' && { outcome }) }
    case 'error':
      return { type, message: whyEnded(event), ...(error && { code: error.code }), outcome }
    default:
      return type satisfies never
  }
}

/** A signal from another process ended the agent; this dialect reports that as an interruption. */
function stoppedFromOutside({ outcome, exit }: TurnCompleted): boolean {
  if (outcome !== 'crashed') return false
  const { signal, code } = exit ?? {}
  return signal === 'SIGTERM' || signal === 'SIGINT' || code === 143 || code === 130
}

/** Uses the field names that clients of `raw` expect. */
function usageOf({ input, output, cacheRead, cacheWrite, partial }: Usage): Record<string, number | true> {
  return {
    ...(input !== undefined && { input_tokens: input }),
    ...(output !== undefined && { output_tokens: output }),
    ...(cacheRead !== undefined && { cache_read_input_tokens: cacheRead }),
    ...(cacheWrite !== undefined && { cache_creation_input_tokens: cacheWrite }),
    ...(partial && { partial }),
  }
}
