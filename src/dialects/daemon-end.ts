import type { TurnCompleted } from '../model/events/turn.ts'
import { FACES, type Usage } from '../model/index.ts'
import type { StreamEvent } from './daemon-event.ts'
import { whyEnded } from './outcome-words.ts'

interface Told {
  /** The agent's own id of the session; ours, where it has none. */
  sessionId: string
  showsRaw: boolean
}

/** The one message that ends a turn's last exchange. */
export function terminalOf(event: TurnCompleted, { sessionId, showsRaw }: Told): StreamEvent {
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

/** Somebody else sent the agent's process a signal; to a reader of this face that is an interruption. */
function stoppedFromOutside({ outcome, exit }: TurnCompleted): boolean {
  if (outcome !== 'crashed') return false
  const { signal, code } = exit ?? {}
  return signal === 'SIGTERM' || signal === 'SIGINT' || code === 143 || code === 130
}

/** Under the names that readers of `raw` know. */
function usageOf({ input, output, cacheRead, cacheWrite, partial }: Usage): Record<string, number | true> {
  return {
    ...(input !== undefined && { input_tokens: input }),
    ...(output !== undefined && { output_tokens: output }),
    ...(cacheRead !== undefined && { cache_read_input_tokens: cacheRead }),
    ...(cacheWrite !== undefined && { cache_creation_input_tokens: cacheWrite }),
    ...(partial && { partial }),
  }
}
