import type { TextCompleted, TextDelta, ThinkingCompleted, ThinkingDelta } from '../model/events/message.ts'
import type { RequestResolved, RequestWithdrawn } from '../model/events/request.ts'
import type { SessionEnded, SessionStarted } from '../model/events/session.ts'
import type { TurnQueued, TurnStarted } from '../model/events/turn.ts'
import type { Entry, Event, EventType, Usage } from '../model/index.ts'
import { isForPerson } from '../model/request/for-person.ts'
import { byRules, type Dialect, defineDialect, type EntryRules, silent } from './dialect.ts'
import { type AnnouncingEvent, announcementOf } from './kit/announcement.ts'
import {
  type AppendOnlyText,
  appendAgain,
  appendDelta,
  appendWhole,
  newAppendOnlyText,
} from './kit/append-only-text.ts'
import { isoTime } from './kit/iso-time.ts'
import { closedRequest, openRequest } from './kit/open-request.ts'
import { type PendingErrors, takeDue } from './kit/pending-errors.ts'
import type { AgentEvent, Body } from './unified/unified-event.ts'
import { EXTENSIONS } from './unified/unified-extension.ts'
import { sessionStarted } from './unified/unified-session.ts'
import { fileChanged, toolCompleted, toolProgress, toolStarted } from './unified/unified-tools.ts'
import { error, notice, sessionEnd, turnEnd } from './unified/unified-turns.ts'

/**
 * `open` is between `sessionStarted` and `sessionEnded`; a session may reopen after `ended`, but never after `over`.
 */
type UnifiedPhase = 'before' | 'open' | 'ended' | 'over'

interface UnifiedState {
  phase: UnifiedPhase
  /** Emitted again when an ended session continues. */
  started: SessionStarted | undefined
  /** Turns that were accepted and have no outcome yet, running or queued. */
  readonly unfinished: Set<number>
  /** Tools that were shown as started; only these are shown as completed. */
  readonly tools: Set<string>
  /** Open requests. A client is asked only for those that a person answers. */
  readonly requests: Map<string, 'person' | 'other'>
  text: AppendOnlyText
  reasoning: AppendOnlyText
  /** The open turn. */
  turn: number | undefined
  readonly errors: PendingErrors
  usage: Usage | undefined
  /** Whether to emit types that the document does not have. */
  readonly hasExtensions: boolean
}

const NOTHING: readonly Body[] = []

const STARTS: ReadonlySet<EventType> = new Set(['turn.queued', 'turn.started'])

const rules: EntryRules<UnifiedState, Body> = {
  'session.started': (state, event) => {
    state.started = event
    return reopen(state)
  },
  'turn.queued': accept,
  'turn.started': (state, event) => {
    // Text that an earlier turn discarded and never repeated does not belong to this one.
    state.text = newAppendOnlyText()
    state.reasoning = newAppendOnlyText()
    const { turn, prompt = '' } = event
    state.turn = turn
    state.usage = undefined
    return [...accept(state, event), { type: 'turnStarted', turnNumber: turn, prompt }]
  },
  'text.delta': textDelta,
  'text.completed': textCompleted,
  'message.discarded': (state, event) => {
    appendAgain(state.text, event.messageId)
    appendAgain(state.reasoning, event.messageId)
    return NOTHING
  },
  'tool.started': (state, event) => {
    state.tools.add(event.toolId)
    return [toolStarted(event)]
  },
  'tool.progressed': (state, event) => (state.tools.has(event.toolId) ? toolProgress(event) : NOTHING),
  'tool.completed': (state, event) => (state.tools.delete(event.toolId) ? toolCompleted(event) : NOTHING),
  'file.changed': (_, event) => fileChanged(event),
  'notice.raised': ({ errors }, event) => {
    if (event.code === 'context_lost') return [error(event)]
    if (event.level === 'error') errors.push(event)
    return notice(event)
  },
  'request.opened': (state, event, { session }) => {
    const answeredBy = isForPerson(event) ? 'person' : 'other'
    state.requests.set(event.requestId, answeredBy)
    if (answeredBy === 'other') return logEntry(state, event)
    return [{ type: 'requestOpened', ...openRequest(session, event) }]
  },
  'request.resolved': closeRequest,
  'request.withdrawn': closeRequest,
  'usage.reported': (state, event) => {
    if (event.scope === 'turn') state.usage = event
    return logEntry(state, event)
  },
  'turn.completed': (state, event) => {
    state.unfinished.delete(event.turn)
    const last = state.unfinished.size === 0
    if (last) state.phase = 'ended'
    const isOpen = event.turn === state.turn
    const usage = event.usage ?? (isOpen ? state.usage : undefined)
    if (isOpen) state.turn = undefined
    return turnEnd({ ...event, usage }, last)
  },
  'session.ended': endSession,
  'session.updated': (state, event) => {
    const { policy } = event
    if (policy && state.started) state.started = { ...state.started, policy }
    return state.phase === 'open' ? logEntry(state, event) : NOTHING
  },
  'thinking.delta': thinkingDelta,
  'thinking.completed': thinkingCompleted,
  'plan.updated': (_, event) => [{ ...event, type: 'planUpdated' }],
  'tool.input.delta': silent,
  'turn.steered': logEntry,
  'tool.updated': logEntry,
  'subagent.started': logEntry,
  'subagent.progressed': logEntry,
  'subagent.completed': logEntry,
  'hook.started': logEntry,
  'hook.completed': logEntry,
  'context.compacted': logEntry,
  'limit.reported': (state, event) => [...announce(event), ...logEntry(state, event)],
  'session.handed_over': (state, event) => [...announce(event), ...logEntry(state, event)],
  'output.written': logEntry,
  'native.unmapped': logEntry,
}

const project = byRules(rules)

/**
 * The unified protocol: all work happens between `sessionStarted` and `sessionEnded`. Events without a type in its
 * document have one of ours, unless the subscriber turned them off with `extensions=0`. It cannot represent drafts of
 * tool input.
 */
export const unified: Dialect = defineDialect({
  id: 'unified',
  initial: ({ extensions }): UnifiedState => ({
    phase: 'before',
    started: undefined,
    unfinished: new Set(),
    tools: new Set(),
    requests: new Map(),
    text: newAppendOnlyText(),
    reasoning: newAppendOnlyText(),
    turn: undefined,
    errors: [],
    usage: undefined,
    hasExtensions: extensions !== '0',
  }),
  project: (state, entry) => {
    if (!isProjected(state.phase, entry.event.type)) return []
    const errors = takeDue(state.errors, entry, state.turn).map(error)
    const all = [...errors, ...project(state, entry)]
    const bodies = state.hasExtensions ? all : all.filter(({ type }) => !EXTENSIONS.has(type))
    return bodies.map((body, index) => stamp(entry, body, bodies.length === 1 ? '' : `_${index + 1}`))
  },
  finished: ({ phase }) => phase === 'over',
})

/** Outside of an open session, only events that open it or end it for good are projected. */
function isProjected(phase: UnifiedPhase, type: EventType): boolean {
  switch (phase) {
    case 'open':
      return true
    case 'before':
      return type === 'session.started'
    case 'ended':
      return STARTS.has(type) || type === 'session.updated' || type === 'session.ended'
    case 'over':
      return false
    default:
      return phase satisfies never
  }
}

/** Messages of an entry are numbered if there is more than one. */
function stamp({ session, seq, at }: Entry, body: Body, part: string): AgentEvent {
  return { id: `evt_${seq}${part}`, sessionId: session, timestamp: isoTime(at), ...body }
}

function reopen(state: UnifiedState): readonly Body[] {
  if (state.phase === 'open' || !state.started) return NOTHING
  state.phase = 'open'
  return [sessionStarted(state.started)]
}

function accept(state: UnifiedState, { turn }: TurnQueued | TurnStarted): readonly Body[] {
  state.unfinished.add(turn)
  return reopen(state)
}

function closeRequest(state: UnifiedState, event: RequestResolved | RequestWithdrawn): readonly Body[] {
  const { requests } = state
  const answeredBy = requests.get(event.requestId)
  requests.delete(event.requestId)
  if (answeredBy === 'other') return logEntry(state, event)
  return answeredBy === 'person' ? [{ type: 'requestClosed', ...closedRequest(event) }] : NOTHING
}

function textDelta({ text }: UnifiedState, event: TextDelta): readonly Body[] {
  const content = appendDelta(text, event)
  return content === '' ? NOTHING : [{ type: 'textChunk', content, isComplete: false }]
}

/** The closing chunk is empty after deltas, because clients print every chunk. */
function textCompleted({ text }: UnifiedState, event: TextCompleted): readonly Body[] {
  if (event.parent !== undefined) return [{ type: 'logEntry', event }]
  return [{ type: 'textChunk', content: appendWhole(text, event), isComplete: true }]
}

function thinkingDelta({ reasoning }: UnifiedState, event: ThinkingDelta): readonly Body[] {
  const content = appendDelta(reasoning, event)
  return content === '' ? NOTHING : [{ type: 'reasoningChunk', content, isComplete: false }]
}

function thinkingCompleted({ reasoning }: UnifiedState, event: ThinkingCompleted): readonly Body[] {
  const { text, parent } = event
  if (text === '') return NOTHING
  if (parent !== undefined) return [{ type: 'reasoningChunk', content: text, isComplete: true, parent }]
  return [{ type: 'reasoningChunk', content: appendWhole(reasoning, event), isComplete: true }]
}

function announce(event: AnnouncingEvent): readonly Body[] {
  const announcement = announcementOf(event)
  return announcement ? [{ type: 'noticeRaised', level: 'warning', ...announcement }] : NOTHING
}

function logEntry(_: UnifiedState, event: Event): readonly Body[] {
  return [{ type: 'logEntry', event }]
}

/** Emitted only if the session did not already end with its last turn. */
function endSession(state: UnifiedState, event: SessionEnded): readonly Body[] {
  const wasOpen = state.phase === 'open'
  state.phase = 'over'
  return wasOpen ? [sessionEnd(event)] : NOTHING
}
