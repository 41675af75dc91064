import type { TurnCompleted } from '../../model/events/turn.ts'
import { FACES, type Usage } from '../../model/index.ts'
import { wasToldToStop } from '../../model/outcome/outcome.ts'
import { whyEnded } from '../kit/outcome-messages.ts'
import type { StreamEvent } from './daemon-event.ts'

interface TerminalContext {
  /** The agent's session id, or the Mainstem id if the agent has none. */
  sessionId: string
  /** The id of the agent. */
  agent: string | undefined
  showsRaw: boolean
}

/** Builds the message that ends the last exchange of a turn. */
export function terminalOf(
  event: TurnCompleted,
  { sessionId, agent, showsRaw }: TerminalContext,
): StreamEvent {
  const { outcome, error, durationMs, usage } = event
  // An agent that another process stopped is interrupted in this dialect.
  const isStopped = outcome === 'crashed' && wasToldToStop(event.exit)
  const type = isStopped ? 'interrupted' : FACES[outcome].daemon
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
      return { type, message: errorMessage(event, agent), ...(error && { code: error.code }), outcome }
    default:
      return type satisfies never
  }
}

/** Clients match the words of the document for a process that exits with an error. */
function errorMessage(event: TurnCompleted, agent = 'agent'): string {
  const why = whyEnded(event)
  const isEnd = event.outcome === 'crashed' || event.outcome === 'failed'
  const code = isEnd ? (event.exit?.code ?? 0) : 0
  if (code === 0) return why
  const name = agent.slice(0, 1).toUpperCase() + agent.slice(1)
  return `${name} process exited abnormally (code=${code}): ${why}`
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
