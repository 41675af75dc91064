import type { SessionEnded, SessionUpdated } from '../model/events/session.ts'
import type { ToolStarted } from '../model/events/tool.ts'
import type { TurnCompleted } from '../model/events/turn.ts'
import { type Entry, type Event, FACES, type Outcome } from '../model/index.ts'
import { byRules, type Dialect, defineDialect, type Rules, silent } from './dialect.ts'
import { cutOffBy, whyEnded } from './outcome-words.ts'
import { takeDue } from './pending-errors.ts'
import { needsPerson } from './request-words.ts'
import { argumentsOf } from './tool-words.ts'
import type { AgentEvent } from './ues-event.ts'
import { extension, limit, notice, permissionRequest, toolResult, usageOf } from './ues-facts.ts'
import {
  beginRun,
  type Fact,
  metadata,
  startSession,
  tell,
  tellIntroduced,
  type UesState,
} from './ues-run.ts'

const NOTHING: readonly AgentEvent[] = []

const rules: Rules<UesState, AgentEvent> = {
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
    // A prompt that waited and never ran is no run.
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
    state.tools.delete(event.toolId) ? tell(state, entry, toolResult(event)) : NOTHING,
  'request.opened': (state, event, entry) =>
    needsPerson(event) ? tell(state, entry, permissionRequest(event)) : NOTHING,
  'usage.reported': (state, event, entry) => {
    if (event.scope !== 'turn') return agents('usage')(state, event, entry)
    if (state.run) state.run.usage = event
    return NOTHING
  },
  'limit.reported': (state, event, entry) => tellIntroduced(state, entry, limit(state.agent, event)),
  'notice.raised': (state, event, entry) => {
    if (event.level !== 'error') return tellIntroduced(state, entry, notice(event))
    state.run?.errors.push(event)
    return NOTHING
  },
  'hook.started': (state, event, entry) =>
    tellIntroduced(state, entry, extension(state.agent, 'hook', event, 'started')),
  'hook.completed': (state, event, entry) =>
    tellIntroduced(state, entry, extension(state.agent, 'hook', event)),
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
 * The unified event stream. A run is one turn: `init` is its first message and `done` its last, each exactly once,
 * whatever died; a session of several turns reads as several runs.
 * It has no place for drafts of calls, raw output and frames that no rule knows, nor for what happens between turns.
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
    const errors = due.flatMap((event) => tellIntroduced(state, entry, notice(event)))
    return [...errors, ...project(state, entry)]
  },
  finished: (state) => state.ended,
}

/** The same among the other dialects. */
export const ues: Dialect = defineDialect(agentEvents)

type Say = (state: UesState, event: Event, entry: Entry) => readonly AgentEvent[]

/** A fact of the agent's that none of the nine can carry, in the agent's namespace. */
function agents(name: string, status?: string): Say {
  return (state, event, entry) => tell(state, entry, extension(state.agent, name, event, status))
}

/** The same for what is ours. */
function ours(name: string): Say {
  return (state, event, entry) => tell(state, entry, extension('mainstem', name, event))
}

/** The handshake opens the run; what changes later is told as a change. */
function updateSession(state: UesState, event: SessionUpdated, entry: Entry): readonly AgentEvent[] {
  const { type: _, ...told } = event
  state.known = { ...state.known, ...told }
  if (state.run?.opened) return agents('session_update')(state, event, entry)
  return told.nativeSessionId === undefined ? NOTHING : tell(state, entry)
}

function speak(state: UesState, entry: Entry, text: string, fact: Fact): readonly AgentEvent[] {
  return text === '' ? NOTHING : tell(state, entry, fact)
}

/** Raw chains of thought are for readers that ask for them. */
function takesThinking({ thinking, started }: UesState): boolean {
  if (thinking === 'none') return false
  return thinking === 'raw' || started?.capabilities.thinking === 'summary'
}

function startTool(state: UesState, event: ToolStarted, entry: Entry): readonly AgentEvent[] {
  const { toolId, name, input, title, parent } = event
  if (!state.run) return NOTHING
  if (parent === undefined) state.run.toolUses++
  state.tools.add(toolId)
  return tell(state, entry, {
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

/** The outcomes that `done` tells in full; any other bad one is explained by an `error` before it. */
const TOLD_BY_STATUS: ReadonlySet<Outcome> = new Set(['completed', 'interrupted', 'max_steps', 'max_budget'])

type Ending = Omit<TurnCompleted, 'type' | 'turn' | 'denials'>

function endRun(state: UesState, entry: Entry, ending: Ending, why: string): readonly AgentEvent[] {
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
  const said = TOLD_BY_STATUS.has(outcome) ? tell(state, entry, done) : tell(state, entry, failure, done)
  state.run = undefined
  return said
}

/** A session that ended before its prompt had become a turn, or in the middle of one, has an end as well. */
function endSession(state: UesState, event: SessionEnded, entry: Entry): readonly AgentEvent[] {
  const { error } = event
  if (state.runs === 0) beginRun(state, undefined, entry.at)
  const durationMs = Math.max(0, entry.at - (state.run?.startedAt ?? entry.at))
  const why = error?.message ?? 'the session ended before the turn did'
  const said = endRun(state, entry, { outcome: cutOffBy(event), error, durationMs }, why)
  state.ended = true
  return said
}
