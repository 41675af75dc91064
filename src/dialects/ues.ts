import type { SessionEnded, SessionUpdated } from '../model/events/session.ts'
import type { ToolStarted } from '../model/events/tool.ts'
import type { TurnCompleted } from '../model/events/turn.ts'
import { type Entry, type Event, FACES, type Outcome } from '../model/index.ts'
import { byRules, type Dialect, defineDialect, type EntryRules, silent } from './dialect.ts'
import { cutOffBy, whyEnded } from './kit/outcome-messages.ts'
import { takeDue } from './kit/pending-errors.ts'
import { needsPerson } from './kit/request-subject.ts'
import { argumentsOf } from './kit/tool-output.ts'
import type { AgentEvent } from './ues/ues-event.ts'
import { extension, limit, notice, permissionRequest, toolResult, usageOf } from './ues/ues-facts.ts'
import {
  beginRun,
  emit,
  emitAfterHandshake,
  type Fact,
  metadata,
  startSession,
  type UesState,
} from './ues/ues-run.ts'

const NOTHING: readonly AgentEvent[] = []

const rules: EntryRules<UesState, AgentEvent> = {
  'session.started': (state, event) => {
    startSession(state, event)
    return NOTHING
  },
  'session.updated': updateSession,
  'session.ended': endSession,
  'turn.started': (state, { turn }, entry) => {
    if (!state.run) beginRun(state, turn, entry.at)
    return NOTHING
  },
  'turn.completed': (state, event, entry) =>
    // A prompt that was dropped from the queue is not a run.
    state.run?.turn === event.turn ? endRun(state, entry, event, whyEnded(event)) : NOTHING,
  'text.delta': (state, { text, messageId, parent }, entry) =>
    speak(state, entry, text, {
      type: 'text_delta',
      payload: { delta: text },
      ...metadata({ messageId, parent }),
    }),
  'text.completed': (state, { text, messageId, partial, phase, parent }, entry) =>
    speak(state, entry, text, {
      type: 'text',
      payload: { content: text },
      ...metadata({ messageId, partial, phase, parent }),
    }),
  'thinking.completed': (state, { text, messageId, partial, parent }, entry) =>
    speak(state, entry, takesThinking(state) ? text : '', {
      type: 'thinking',
      payload: { summary: text },
      ...metadata({ messageId, partial, parent }),
    }),
  'tool.started': startTool,
  'tool.completed': (state, event, entry) =>
    state.tools.delete(event.toolId) ? emit(state, entry, toolResult(event)) : NOTHING,
  'request.opened': (state, event, entry) =>
    needsPerson(event) ? emit(state, entry, permissionRequest(event)) : NOTHING,
  'usage.reported': (state, event, entry) => {
    if (event.scope !== 'turn') return agents('usage')(state, event, entry)
    if (state.run) state.run.usage = event
    return NOTHING
  },
  'limit.reported': (state, event, entry) => emitAfterHandshake(state, entry, limit(state.agent, event)),
  'notice.raised': (state, event, entry) => {
    if (event.level !== 'error') return emitAfterHandshake(state, entry, notice(event))
    state.run?.errors.push(event)
    return NOTHING
  },
  'session.handed_over': (state, event, entry) => {
    // The agent that continues introduces itself in its first run.
    state.known = {}
    return emit(state, entry, extension('mainstem', 'handed_over', event))
  },
  'hook.started': (state, event, entry) =>
    emitAfterHandshake(state, entry, extension(state.agent, 'hook', event, 'started')),
  'hook.completed': (state, event, entry) =>
    emitAfterHandshake(state, entry, extension(state.agent, 'hook', event)),
  'subagent.started': agents('subagent', 'started'),
  'subagent.progressed': agents('subagent', 'progress'),
  'subagent.completed': agents('subagent'),
  'tool.updated': agents('tool_update'),
  'tool.progressed': agents('tool_progress'),
  'file.changed': agents('file_change'),
  'plan.updated': agents('plan_update'),
  'context.compacted': agents('context_compacted'),
  'turn.steered': ours('steered'),
  'message.discarded': ours('discarded'),
  'request.resolved': ours('permission_resolved'),
  'request.withdrawn': ours('permission_withdrawn'),
  'turn.queued': silent,
  'thinking.delta': silent,
  'tool.input.delta': silent,
  'output.written': silent,
  'native.unmapped': silent,
}

const project = byRules(rules)

/**
 * The unified event stream. A run is one turn: `init` is its first message and `done` its last, each emitted exactly
 * once even after a crash; a session with several turns produces several runs. It cannot represent tool input deltas,
 * raw output, unmapped frames, and events between turns.
 */
export const agentEvents: Dialect<UesState, AgentEvent> = {
  id: 'ues',
  initial: ({ thinking }): UesState => ({
    thinking: thinking === 'raw' || thinking === 'none' ? thinking : 'summary',
    agent: 'unknown',
    started: undefined,
    known: {},
    run: undefined,
    tools: new Set(),
    runs: 0,
    ended: false,
  }),
  project(state, entry) {
    if (state.ended) return NOTHING
    const due = state.run ? takeDue(state.run.errors, entry, state.run.turn) : []
    if (due.length === 0) return project(state, entry)
    const errors = due.flatMap((event) => emitAfterHandshake(state, entry, notice(event)))
    return [...errors, ...project(state, entry)]
  },
  finished: (state) => state.ended,
}

/** The same dialect without its state type, for the list of dialects. */
export const ues: Dialect = defineDialect(agentEvents)

type UesRule = (state: UesState, event: Event, entry: Entry) => readonly AgentEvent[]

/** Emits an agent fact that none of the nine types can represent, in the agent's namespace. */
function agents(name: string, status?: string): UesRule {
  return (state, event, entry) => emit(state, entry, extension(state.agent, name, event, status))
}

/** Emits a Mainstem fact in the namespace `mainstem`. */
function ours(name: string): UesRule {
  return (state, event, entry) => emit(state, entry, extension('mainstem', name, event))
}

/** The handshake opens the run; later changes are emitted as updates. */
function updateSession(state: UesState, event: SessionUpdated, entry: Entry): readonly AgentEvent[] {
  const { type: _, ...reported } = event
  state.known = { ...state.known, ...reported }
  if (state.run?.opened) return agents('session_update')(state, event, entry)
  return reported.nativeSessionId === undefined ? NOTHING : emit(state, entry)
}

function speak(state: UesState, entry: Entry, text: string, fact: Fact): readonly AgentEvent[] {
  return text === '' ? NOTHING : emit(state, entry, fact)
}

/** Raw chains of thought are emitted only on request. */
function takesThinking({ thinking, started }: UesState): boolean {
  if (thinking === 'none') return false
  return thinking === 'raw' || started?.capabilities.thinking === 'summary'
}

function startTool(state: UesState, event: ToolStarted, entry: Entry): readonly AgentEvent[] {
  const { toolId, name, input, title, parent } = event
  if (!state.run) return NOTHING
  if (parent === undefined) state.run.toolUses++
  state.tools.add(toolId)
  return emit(state, entry, {
    type: 'tool_use',
    payload: {
      toolName: name,
      toolUseId: toolId,
      input: argumentsOf(input),
      ...(title !== undefined && { description: title }),
    },
    ...metadata({ parent }),
  })
}

/** The outcomes that the status of `done` fully represents; any other failure is explained by an `error` before it. */
const REPORTED_BY_STATUS: ReadonlySet<Outcome> = new Set([
  'completed',
  'interrupted',
  'max_steps',
  'max_budget',
])

type UesEnding = Omit<TurnCompleted, 'type' | 'turn' | 'denials'>

function endRun(state: UesState, entry: Entry, ending: UesEnding, why: string): readonly AgentEvent[] {
  const { outcome, error, result, durationMs, nativeReason, structured } = ending
  const { toolUses = 0, usage: reported } = state.run ?? {}
  const done: Fact = {
    type: 'done',
    payload: {
      status: FACES[outcome].ues,
      ...(result !== undefined && { result }),
      usage: usageOf(ending.usage ?? reported, toolUses),
      durationMs,
    },
    ...metadata({ outcome, nativeReason, structured }),
  }
  const failure: Fact = {
    type: 'error',
    payload: { code: error?.code ?? outcome, message: why, recoverable: false },
  }
  const events = REPORTED_BY_STATUS.has(outcome)
    ? emit(state, entry, done)
    : emit(state, entry, failure, done)
  state.run = undefined
  return events
}

/** A session that ended before its prompt became a turn, or during a turn, also gets a `done`. */
function endSession(state: UesState, event: SessionEnded, entry: Entry): readonly AgentEvent[] {
  const { error } = event
  if (state.runs === 0) beginRun(state, undefined, entry.at)
  const durationMs = Math.max(0, entry.at - (state.run?.startedAt ?? entry.at))
  const why = error?.message ?? 'the session ended before the turn did'
  const events = endRun(state, entry, { outcome: cutOffBy(event), error, durationMs }, why)
  state.ended = true
  return events
}
