import type { RequestResolved, RequestWithdrawn } from '../model/events/request.ts'
import type { SessionEnded } from '../model/events/session.ts'
import type { FileChanged, ToolCompleted, ToolStarted } from '../model/events/tool.ts'
import type { TurnCompleted } from '../model/events/turn.ts'
import type { PlanItem, PlanUpdated } from '../model/events/work.ts'
import type { Decision, Entry, Event, EventType } from '../model/index.ts'
import { isForPerson } from '../model/request/for-person.ts'
import type { BoardBody, SessionEvent } from './board/board-event.ts'
import { advance, type BoardState, newStanding, type Standing } from './board/board-state.ts'
import { byRules, type Dialect, defineDialect, type EntryRules, silent } from './dialect.ts'
import { type AnnouncingEvent, announcementOf } from './kit/announcement.ts'
import { isoTime } from './kit/iso-time.ts'
import { lineDiff } from './kit/line-diff.ts'
import { type ClosedRequest, closedRequest, type OpenRequest, openRequest } from './kit/open-request.ts'
import { SESSION_OUTCOMES, whyEnded } from './kit/outcome-messages.ts'
import { subjectOf } from './kit/request-subject.ts'
import { argumentsOf, outputOrError } from './kit/tool-output.ts'
import { uuid5 } from './unified/uuid5.ts'

interface BoardFold {
  readonly standing: Standing
  /** The subjects of the open requests that were emitted. */
  readonly requests: Map<string, string>
  over: boolean
}

const NOTHING: readonly BoardBody[] = []

const rules: EntryRules<BoardFold, BoardBody> = {
  'text.completed': (_, { text, parent }) =>
    parent === undefined && text !== '' ? [{ type: 'log', payload: { line: text } }] : NOTHING,
  'thinking.completed': (_, { text, parent }) => (parent === undefined ? plan(text) : NOTHING),
  'plan.updated': (_, event) => (event.parent === undefined ? plan(planText(event)) : NOTHING),
  'tool.started': (_, event) => [action(event)],
  'tool.completed': (_, event) => [toolResult(event)],
  'file.changed': (_, event) => diffs(event),
  'notice.raised': announce,
  'limit.reported': announce,
  'session.handed_over': announce,
  'request.opened': (fold, event, { session }) => {
    if (!isForPerson(event)) return NOTHING
    const subject = subjectOf(event) || event.kind
    fold.requests.set(event.requestId, subject)
    return [logRequest(`Waiting for an answer: ${subject}`, openRequest(session, event))]
  },
  'request.resolved': closeRequest,
  'request.withdrawn': closeRequest,
  'turn.queued': noted,
  'turn.started': noted,
  'turn.completed': turnEnd,
  'session.ended': sessionEnd,
  'session.started': silent,
  'session.updated': silent,
  'turn.steered': silent,
  'text.delta': silent,
  'thinking.delta': silent,
  'message.discarded': silent,
  'tool.input.delta': silent,
  'tool.updated': silent,
  'tool.progressed': silent,
  'subagent.started': silent,
  'subagent.progressed': silent,
  'subagent.completed': silent,
  'hook.started': silent,
  'hook.completed': silent,
  'context.compacted': silent,
  'usage.reported': silent,
  'output.written': silent,
  'native.unmapped': silent,
}

const project = byRules(rules)

/**
 * The event stream of the board API: complete messages, tools and diffs, with a separate session state. It cannot
 * represent turns and prompts, text deltas, the text of sub-agents, usage, notices other than `context_lost` and `agent_silent`, and
 * events between turns.
 */
export const board: Dialect = defineDialect({
  id: 'board',
  initial: (): BoardFold => ({ standing: newStanding(), requests: new Map(), over: false }),
  project: (fold, entry) =>
    isProjected(fold, entry.event.type)
      ? project(fold, entry).map((body, index) => stamp(entry, body, index))
      : [],
  finished: (fold) => fold.over,
})

const STARTS: ReadonlySet<EventType> = new Set(['turn.queued', 'turn.started'])

/** Clients disconnect at the end: after it, only events that reopen the session are projected. */
function announce(_: BoardFold, event: AnnouncingEvent): readonly BoardBody[] {
  const announcement = announcementOf(event)
  if (!announcement) return NOTHING
  return [{ type: 'log', payload: { line: `${announcement.code}: ${announcement.message}` } }]
}

function isProjected({ over, standing }: BoardFold, type: EventType): boolean {
  if (over) return false
  return standing.state === 'running' || STARTS.has(type) || type === 'session.ended'
}

/** Derives ids from immutable fields, so that every client sees the same ids. */
function stamp({ session, seq, at }: Entry, body: BoardBody, index: number): SessionEvent {
  return {
    id: uuid5(session, `${seq}.${index}`),
    sessionId: session,
    ...body,
    timestamp: isoTime(at),
  }
}

/**
 * The protocol has no type for requests and its clients show every log line, so the request is in both the line and the
 * payload.
 */
function logRequest(line: string, request: OpenRequest | ClosedRequest): BoardBody {
  return { type: 'log', payload: { line, request } }
}

const DECISIONS: Record<Decision, string> = { allow: 'Allowed', deny: 'Denied', answered: 'Answered' }

function closeRequest(
  { requests }: BoardFold,
  event: RequestResolved | RequestWithdrawn,
): readonly BoardBody[] {
  const subject = requests.get(event.requestId)
  if (subject === undefined) return NOTHING
  requests.delete(event.requestId)
  const how = event.decision ? DECISIONS[event.decision] : 'Request withdrawn'
  return [logRequest(`${how}: ${subject}`, closedRequest(event))]
}

function plan(message: string): readonly BoardBody[] {
  return message === '' ? NOTHING : [{ type: 'plan', payload: { message } }]
}

const MARKS: Record<PlanItem['status'], string> = { pending: '[ ]', in_progress: '[~]', completed: '[x]' }

function planText({ items, explanation }: PlanUpdated): string {
  const list = items.map(({ text, status }) => `${MARKS[status]} ${text}`)
  return [...(explanation ? [explanation] : []), ...list].join('\n')
}

function action({ toolId, name, input }: ToolStarted): BoardBody {
  return { type: 'action', payload: { tool: name, args: argumentsOf(input), toolId } }
}

function toolResult(event: ToolCompleted): BoardBody {
  const { toolId, name, status, error, data } = event
  const text = outputOrError(event) ?? (data === undefined ? '' : JSON.stringify(data))
  return {
    type: 'toolResult',
    payload: {
      tool: name,
      success: status === 'success' || status === 'unknown',
      output: text,
      toolId,
      ...(status !== 'success' && { status }),
      ...(error !== undefined && error !== text && { error }),
    },
  }
}

/** A renamed file is reported as deleted under the old name and created under the new one. */
function diffs(event: FileChanged): readonly BoardBody[] {
  const { path, from, diff, before, after } = event
  // The protocol has no kind of change, and a guess must not become a fact.
  const change = event.changeReported === false ? 'modified' : event.change
  if (change !== 'renamed') return [diffBody(path, change, diff ?? diffOf(change, before, after), from)]
  // The file's own diff shows what changed besides the name.
  const created = diffBody(path, 'created', diff ?? diffOf('created', undefined, after), from)
  return from === undefined
    ? [created]
    : [diffBody(from, 'deleted', diffOf('deleted', before, undefined)), created]
}

type BoardChange = Exclude<FileChanged['change'], 'renamed'>

function diffBody(file: string, change: BoardChange, diff: string, from?: string): BoardBody {
  return {
    type: 'diff',
    payload: {
      file,
      diff,
      ...(change !== 'modified' && { change }),
      ...(from !== undefined && { from }),
    },
  }
}

/** Both texts are needed for a diff, except for created and deleted files. */
function diffOf(change: BoardChange, before: string | undefined, after: string | undefined): string {
  const old = before ?? (change === 'created' ? '' : undefined)
  const now = after ?? (change === 'deleted' ? '' : undefined)
  return old === undefined || now === undefined ? '' : lineDiff(old, now)
}

function noted({ standing }: BoardFold, event: Event): readonly BoardBody[] {
  advance(standing, event)
  return NOTHING
}

/** Clients treat `error` and `cancelled` as the end, so they are emitted only when no turn is left. */
function turnEnd({ standing }: BoardFold, event: TurnCompleted): readonly BoardBody[] {
  const { outcome, error } = event
  const state = advance(standing, event)
  if (outcome === 'completed') return NOTHING
  const message = whyEnded(event)
  if (state === 'running') return [{ type: 'log', payload: { line: message, outcome } }]
  return end(state, { message, ...(error && { code: error.code }), outcome })
}

function sessionEnd(fold: BoardFold, event: SessionEnded): readonly BoardBody[] {
  fold.over = true
  const before = fold.standing.state
  const state = advance(fold.standing, event)
  if (before !== 'running') return NOTHING
  const { code, message = 'the session ended before its turn did' } = event.error ?? {}
  const outcome = SESSION_OUTCOMES[event.reason]
  return end(state, { message, ...(code && { code }), ...(outcome !== 'completed' && { outcome }) })
}

function end(
  state: BoardState,
  payload: Extract<BoardBody, { type: 'error' }>['payload'],
): readonly BoardBody[] {
  if (state === 'failed') return [{ type: 'error', payload }]
  return state === 'cancelled' ? [{ type: 'cancelled', payload: {} }] : NOTHING
}
