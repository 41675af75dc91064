import type { SessionStarted, SessionUpdated } from '../model/events/session.ts'
import type { Entry, Usage } from '../model/index.ts'
import type { PendingErrors } from './pending-errors.ts'
import type { AgentEvent } from './ues-event.ts'

/** One turn as this face sees it: from `init` to `done`. */
interface Run {
  turn: number | undefined
  startedAt: number
  /** Was its `init` said? */
  opened: boolean
  /** What came before the agent had told who it is; said right after `init`. */
  readonly held: AgentEvent[]
  readonly errors: PendingErrors
  toolUses: number
  usage: Usage | undefined
}

export interface UesState {
  /** The reasoning that the reader takes; a summary unless it asks otherwise. */
  readonly thinking: 'summary' | 'raw' | 'none'
  agent: string
  started: SessionStarted | undefined
  /** All that the agent has told about itself. */
  known: Omit<SessionUpdated, 'type'>
  run: Run | undefined
  /** Tools that were shown as running: no other has a result. */
  readonly tools: Set<string>
  runs: number
  ended: boolean
}

type Unstamped<E> = E extends AgentEvent ? Omit<E, 'agent' | 'timestamp' | 'sessionId'> : never

/** What a rule says; the rest of the message is the same for all. */
export type Fact = Unstamped<AgentEvent>

/** The vendors' own ids, where they are not ours. */
const AGENT_IDS: ReadonlyMap<string, string> = new Map([['claude', 'claude-code']])

/** More than any agent has to say before its handshake. */
const MOST_HELD = 64

const NOTHING: readonly AgentEvent[] = []

export function agentIdOf(agent: string): string {
  return AGENT_IDS.get(agent) ?? agent
}

export function startSession(state: UesState, event: SessionStarted): void {
  state.agent = agentIdOf(event.agent)
  state.started = event
}

export function beginRun(state: UesState, turn: number | undefined, startedAt: number): void {
  state.runs++
  state.run = { turn, startedAt, opened: false, held: [], errors: [], toolUses: 0, usage: undefined }
}

/** Says `init`, unless it was said, and then the facts. What happens outside a run is not said. */
export function tell(state: UesState, entry: Entry, ...facts: Fact[]): readonly AgentEvent[] {
  const { run } = state
  if (!run) return NOTHING
  const said = facts.map((fact) => stamp(state, entry.session, entry.at, fact))
  if (run.opened) return said
  run.opened = true
  return [stamp(state, entry.session, run.startedAt, init(state)), ...run.held.splice(0), ...said]
}

/** For what may come before the first handshake: it waits, so that `init` can tell the model and the tools. */
export function tellIntroduced(state: UesState, entry: Entry, fact: Fact): readonly AgentEvent[] {
  const { run, known } = state
  const introduced = run?.opened || known.nativeSessionId !== undefined
  if (!run || introduced || run.held.length >= MOST_HELD) return tell(state, entry, fact)
  run.held.push(stamp(state, entry.session, entry.at, fact))
  return NOTHING
}

function stamp({ agent }: UesState, sessionId: string, timestamp: number, fact: Fact): AgentEvent {
  // The type stands first, and the fact brings it.
  const common = { type: '', agent, timestamp, sessionId }
  return { ...common, ...fact }
}

function init({ started, known }: UesState): Fact {
  const { nativeSessionId, agentVersion, mode } = known
  return {
    type: 'init',
    payload: {
      model: known.model ?? started?.model ?? '',
      cwd: started?.cwd ?? '',
      tools: known.tools ?? [],
      ...(started && { capabilities: started.capabilities }),
    },
    ...metadata({ nativeSessionId, agentVersion, mode }),
  }
}

/** Only what is known; nothing at all when nothing is. */
export function metadata(fields: Record<string, unknown>): { metadata?: Record<string, unknown> } {
  let known: Record<string, unknown> | undefined
  for (const key in fields) {
    if (fields[key] === undefined) continue
    known ??= {}
    known[key] = fields[key]
  }
  return known ? { metadata: known } : {}
}
