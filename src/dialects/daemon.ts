import { blobReference } from '../model/blob.ts'
import type { TextCompleted } from '../model/events/message.ts'
import type { RequestOpened } from '../model/events/request.ts'
import type { SessionEnded, SessionUpdated } from '../model/events/session.ts'
import type { ToolCompleted, ToolProgressed, ToolStarted } from '../model/events/tool.ts'
import type { TurnCompleted } from '../model/events/turn.ts'
import type { Entry } from '../model/index.ts'
import { isForPerson } from '../model/request/for-person.ts'
import { terminalOf } from './daemon/daemon-end.ts'
import type { StreamEvent } from './daemon/daemon-event.ts'
import {
  holdQuestion,
  type QuestionCalls,
  takeAllUnasked,
  takeAsked,
  takeUnasked,
} from './daemon/daemon-question-calls.ts'
import { withRaw } from './daemon/daemon-raw.ts'
import { QUESTION_TOOL, questionsOf } from './daemon/daemon-request.ts'
import {
  cutText,
  isWhole,
  newShownText,
  type ShownText,
  showAgain,
  showDelta,
  showWhole,
} from './daemon/daemon-text.ts'
import { byRules, type Dialect, defineDialect, type EntryRules, type Message, silent } from './dialect.ts'
import { type AnnouncingEvent, announcementOf } from './kit/announcement.ts'
import { cutOffBy } from './kit/outcome-messages.ts'
import { argumentsOf } from './kit/tool-output.ts'

interface DaemonState {
  readonly showsRaw: boolean
  readonly showsDrafts: boolean
  /** The id of the agent. */
  agent: string | undefined
  /** The agent's session id. */
  sessionId: string | undefined
  /** The model that the agent reported; it may differ from the requested one. */
  model: string | undefined
  /** The open turn; outside of a turn nothing is emitted. */
  turn: number | undefined
  /** Whether the `system` message of this exchange was emitted. */
  greeted: boolean
  /** Whether the last entry ended the exchange with a question. Later messages belong to the next stream. */
  asked: boolean
  text: ShownText
  /** `context_lost` messages until the agent has named its conversation; `system` would have the id of the lost one. */
  lost: readonly StreamEvent[]
  /** A text that was cut off and fully delivered by its partials. It becomes a message only if the turn continues. */
  cut: StreamEvent | undefined
  /** The open calls as the client has seen them. */
  readonly tools: Map<string, { name: string; input: unknown }>
  readonly asking: QuestionCalls
  ended: boolean
}

const NOTHING: readonly StreamEvent[] = []

const rules: EntryRules<DaemonState, StreamEvent> = {
  'session.updated': handleHandshake,
  'session.ended': endSession,
  'turn.queued': (_, { position }) => [{ type: 'queued', position }],
  'turn.started': (state, { turn }) => {
    state.turn = turn
    state.greeted = false
    state.text = newShownText()
    state.cut = undefined
    return NOTHING
  },
  'turn.completed': endTurn,
  'text.delta': (state, event) => partial(state, showDelta(state.text, event)),
  'text.completed': completeText,
  'message.discarded': (state, { messageId }) => {
    showAgain(state.text, messageId)
    return NOTHING
  },
  'tool.input.delta': (state, { delta, parent }) =>
    state.showsDrafts && parent === undefined ? partial(state, delta) : NOTHING,
  'tool.started': startTool,
  'tool.progressed': progressTool,
  'tool.completed': completeTool,
  'request.opened': ask,
  'session.started': (state, { agent }) => {
    state.agent = agent
    return NOTHING
  },
  'turn.steered': silent,
  'thinking.delta': silent,
  'thinking.completed': silent,
  'tool.updated': silent,
  'file.changed': silent,
  'plan.updated': silent,
  'subagent.started': silent,
  'subagent.progressed': silent,
  'subagent.completed': silent,
  'hook.started': silent,
  'hook.completed': silent,
  'request.resolved': silent,
  'request.withdrawn': silent,
  'context.compacted': silent,
  'usage.reported': silent,
  'limit.reported': announce,
  'session.handed_over': (state, event) => {
    state.agent = event.agent
    return announce(state, event)
  },
  'notice.raised': announce,
  'output.written': silent,
  'native.unmapped': silent,
}

const project = byRules(rules)

/**
 * The events of `session.send`, in exchanges: a turn, or the part of a turn that ends in a question. It cannot
 * represent tool results, thinking, file changes, plans, sub-agents except for their tools, limits, notices other than
 * `context_lost` and `agent_silent`, and events between turns.
 */
export const daemon: Dialect = defineDialect({
  id: 'daemon',
  initial: (options): DaemonState => ({
    showsRaw: options.raw === '1',
    showsDrafts: options.partial_json === '1',
    agent: undefined,
    sessionId: undefined,
    model: undefined,
    turn: undefined,
    greeted: false,
    asked: false,
    text: newShownText(),
    lost: [],
    cut: undefined,
    tools: new Map(),
    asking: new Map(),
    ended: false,
  }),
  project(state, entry, raw) {
    if (state.ended) return NOTHING
    if (state.asked) beginNext(state)
    const emitted = project(state, entry)
    return state.showsRaw && raw !== undefined ? withRaw(emitted, entry.event.type, raw) : emitted
  },
  finished: (state) => state.ended,
})

const LAST: ReadonlySet<unknown> = new Set<StreamEvent['type']>(['result', 'error', 'interrupted', 'queued'])

/**
 * Returns whether this message ends the exchange. The transport then sends `[DONE]`, and later messages belong to the
 * next stream. The entry's turn identifies the exchange: a prompt can be queued while another turn is open.
 */
export function endsExchange(message: Message): boolean {
  return LAST.has(message.type)
}

/**
 * Continues the exchange after a question that was already answered: the stream stays open and the client keeps the
 * text it has. Takes the opaque state of this dialect.
 */
export function continueExchange(state: unknown): void {
  const known = state as DaemonState
  known.asked = false
}

function beginNext(state: DaemonState): void {
  state.asked = false
  state.greeted = false
  state.cut = undefined
  cutText(state.text)
}

function emit(state: DaemonState, ...messages: StreamEvent[]): readonly StreamEvent[] {
  if (state.turn === undefined) return NOTHING
  const { cut, lost } = state
  state.cut = undefined
  state.lost = []
  const all = cut && messages.length > 0 ? [cut, ...messages] : messages
  return state.greeted ? all : [greeting(state), ...lost, ...all]
}

function announce(state: DaemonState, event: AnnouncingEvent): readonly StreamEvent[] {
  const announcement = announcementOf(event)
  if (!announcement) return NOTHING
  const { code, message } = announcement
  const notice: StreamEvent = { type: 'system', subtype: code, message }
  if (code !== 'context_lost' || state.greeted) return emit(state, notice)
  if (state.turn !== undefined) state.lost = [...state.lost, notice]
  return NOTHING
}

/** A text that was cut off by the end of the turn gets no message: its partials contain all of it. */
function completeText(state: DaemonState, event: TextCompleted): readonly StreamEvent[] {
  const isShown = event.partial === true && isWhole(state.text, event)
  const content = showWhole(state.text, event)
  if (content === '') return NOTHING
  const message: StreamEvent = { type: 'text', content }
  if (!isShown) return emit(state, message)
  state.cut = message
  return NOTHING
}

function greeting(state: DaemonState): StreamEvent {
  state.greeted = true
  return { type: 'system', subtype: 'init', ...sessionId(state), ...modelName(state) }
}

function sessionId({ sessionId: id }: DaemonState): { session_id?: string } {
  return id === undefined ? {} : { session_id: id }
}

function modelName({ model }: DaemonState): { model?: string } {
  return model === undefined ? {} : { model }
}

/** Emits `system` as soon as the agent is connected, before its first output. */
function handleHandshake(state: DaemonState, event: SessionUpdated): readonly StreamEvent[] {
  state.model = event.model ?? state.model
  if (event.nativeSessionId === undefined) return NOTHING
  state.sessionId = event.nativeSessionId
  return emit(state)
}

function partial(state: DaemonState, content: string): readonly StreamEvent[] {
  return content === '' ? NOTHING : emit(state, { type: 'partial', content })
}

function startTool(state: DaemonState, { toolId, name, input }: ToolStarted): readonly StreamEvent[] {
  if (name === QUESTION_TOOL) {
    // Emitted when the request for it opens.
    if (state.turn !== undefined) holdQuestion(state.asking, toolId, input)
    return NOTHING
  }
  // Agents use other names for it as well, and some send the request before they start the call.
  if (state.asking.has(toolId)) return NOTHING
  const call = showCall(state, toolId, name, input)
  return call ? emit(state, call) : NOTHING
}

/**
 * Returns the call unless the client has seen it with this input: some agents request permission before they start the
 * call.
 */
function showCall(state: DaemonState, toolId: string, name: string, input: unknown): StreamEvent | undefined {
  const shown = state.tools.get(toolId)
  state.tools.set(toolId, { name, input })
  return shown && JSON.stringify(shown.input ?? null) === JSON.stringify(input ?? null)
    ? undefined
    : toolUse(name, input)
}

function toolUse(tool: string, input: unknown): StreamEvent {
  return { type: 'tool_use', tool, ...(isGiven(input) && { input: argumentsOf(input) }) }
}

function isGiven(input: unknown): boolean {
  return input !== undefined && input !== null
}

function progressTool(state: DaemonState, event: ToolProgressed): readonly StreamEvent[] {
  const { toolId, message = elapsed(event.elapsedMs) } = event
  const tool = state.tools.get(toolId)?.name
  if (tool === undefined || message === undefined) return NOTHING
  return emit(state, { type: 'tool_use', tool, message })
}

function elapsed(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : `Running for ${Math.round(ms / 1000)} s`
}

/** Results are not shown, but a client can fetch one that is stored as a blob. */
function completeTool(
  state: DaemonState,
  { toolId, name }: ToolCompleted,
  { blobs = [] }: Entry,
): readonly StreamEvent[] {
  state.tools.delete(toolId)
  const unasked = takeUnasked(state.asking, toolId)
  const stored: StreamEvent[] =
    blobs.length === 0
      ? []
      : [{ type: 'tool_use', tool: name, message: blobs.map(blobReference).join(', '), blobs: [...blobs] }]
  const shown = unasked ? [unasked, ...stored] : stored
  return shown.length === 0 ? NOTHING : emit(state, ...shown)
}

/**
 * A question to a person ends the exchange and leaves the turn open: the client's next message is the answer. That
 * includes a request that the agent does not wait for, because a client has no other way to answer.
 */
function ask(state: DaemonState, request: RequestOpened, { session }: Entry): readonly StreamEvent[] {
  const { requestId } = request
  if (!isForPerson(request) || state.turn === undefined) return NOTHING
  const question: StreamEvent = {
    type: 'tool_use',
    tool: QUESTION_TOOL,
    input: questionsOf(request),
    request_id: requestId,
  }
  const emitted = emit(state, ...subjectOf(state, request), question)
  state.asked = true
  return [...emitted, { type: 'result', session_id: state.sessionId ?? session }]
}

/** Emits the call before the question, so that a person sees what they are asked to allow. */
function subjectOf(state: DaemonState, request: RequestOpened): StreamEvent[] {
  const { questions, tool, toolId, input } = request
  if (tool === QUESTION_TOOL || (toolId !== undefined && state.asking.has(toolId))) {
    const call = takeAsked(state.asking, toolId)
    return call && !questions?.length ? [call] : []
  }
  // The question fully represents the call.
  if (questions && toolId !== undefined) state.asking.set(toolId, undefined)
  if (questions || tool === undefined) return []
  if (toolId === undefined) return [toolUse(tool, input)]
  // A request without new input refers to the call as it was shown.
  const call = !isGiven(input) && state.tools.has(toolId) ? undefined : showCall(state, toolId, tool, input)
  return call ? [call] : []
}

function endTurn(state: DaemonState, event: TurnCompleted, entry: Entry): readonly StreamEvent[] {
  const last = terminalOf(event, { ...state, sessionId: state.sessionId ?? entry.session })
  // A prompt that was dropped from the queue has its own end, which does not end the open turn.
  if (event.turn !== state.turn) return [last]
  return finishExchange(state, last)
}

function finishExchange(state: DaemonState, last: StreamEvent): readonly StreamEvent[] {
  const unasked = takeAllUnasked(state.asking)
  if (last.type === 'error' || last.type === 'interrupted') state.cut = undefined
  // An agent that failed before its first output may never have started.
  const isSilent = last.type === 'error' && !state.greeted && unasked.length === 0
  const emitted = isSilent ? [...state.lost, last] : emit(state, ...unasked, last)
  state.lost = []
  state.turn = undefined
  return emitted
}

/** Every turn has an end in the log; without one the client would wait forever. */
function endSession(state: DaemonState, event: SessionEnded): readonly StreamEvent[] {
  const { error } = event
  state.ended = true
  if (state.turn === undefined) return NOTHING
  const outcome = cutOffBy(event)
  if (outcome === 'interrupted') return finishExchange(state, { type: 'interrupted' })
  const message = error?.message ?? 'the session ended before the turn did'
  return finishExchange(state, { type: 'error', message, ...(error && { code: error.code }), outcome })
}
