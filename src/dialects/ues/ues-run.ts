import type { SessionStarted, SessionUpdated } from '../../model/events/session.ts'
import type { Entry, Usage } from '../../model/index.ts'
import type { PendingErrors } from '../kit/pending-errors.ts'
import type { AgentEvent } from './ues-event.ts'

/** One turn in this dialect: from `init` to `done`. */
interface UesRun {
  turn: number | undefined
  startedAt: number
  /** Whether `init` was emitted. */
  opened: boolean
  /** Events from before the agent's handshake; emitted right after `init`. */
  readonly buffered: AgentEvent[]
  readonly errors: PendingErrors
  toolUses: number
  usage: Usage | undefined
}

export interface UesState {
  /** The reasoning that the subscriber requests; a summary by default. */
  readonly thinking: 'summary' | 'raw' | 'none'
  agent: string
  started: SessionStarted | undefined
  /** Everything that the agent has reported about itself. */
  known: Omit<SessionUpdated, 'type'>
  run: UesRun | undefined
  /** Tools that were shown as running; only these get a result. */
  readonly tools: Set<string>
  runs: number
  ended: boolean
}

type UnstampedUes<E> = E extends AgentEvent ? Omit<E, 'agent' | 'timestamp' | 'sessionId'> : never

/** The type-specific fields of an event; the common fields are added by `stamp`. */
export type Fact = UnstampedUes<AgentEvent>

/** Agent ids of this dialect that differ from ours. */
const AGENT_IDS: ReadonlyMap<string, string> = new Map([['claude', 'claude-code']])

/** More than any agent emits before its handshake. */
const MAX_BUFFERED = 64

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
  state.run = { turn, startedAt, opened: false, buffered: [], errors: [], toolUses: 0, usage: undefined }
}

/** Emits `init` once, then the facts. Events outside of a run are not emitted. */
export function emit(state: UesState, entry: Entry, ...facts: Fact[]): readonly AgentEvent[] {
  const { run } = state
  if (!run) return NOTHING
  const events = facts.map((fact) => stamp(state, entry.session, entry.at, fact))
  if (run.opened) return events
  run.opened = true
  return [stamp(state, entry.session, run.startedAt, init(state)), ...run.buffered.splice(0), ...events]
}

/**
 * For events that may precede the first handshake: they are buffered, so that `init` can include the model and the
 * tools.
 */
export function emitAfterHandshake(state: UesState, entry: Entry, fact: Fact): readonly AgentEvent[] {
  const { run, known } = state
  const introduced = run?.opened || known.nativeSessionId !== undefined
  if (!run || introduced || run.buffered.length >= MAX_BUFFERED) return emit(state, entry, fact)
  run.buffered.push(stamp(state, entry.session, entry.at, fact))
  return NOTHING
}

function stamp({ agent }: UesState, sessionId: string, timestamp: number, fact: Fact): AgentEvent {
  // Reserves the first position for the type, which the fact overrides.
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

/** Drops unknown fields; returns no metadata when all are unknown. */
export function metadata(fields: Record<string, unknown>): { metadata?: Record<string, unknown> } {
  let known: Record<string, unknown> | undefined
  for (const key in fields) {
    if (fields[key] === undefined) continue
    known ??= {}
    known[key] = fields[key]
  }
  return known ? { metadata: known } : {}
}
