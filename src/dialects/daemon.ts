import type { TextCompleted } from '../model/events/message.ts'
import type { RequestOpened } from '../model/events/request.ts'
import type { SessionEnded, SessionUpdated } from '../model/events/session.ts'
import type { ToolProgressed, ToolStarted } from '../model/events/tool.ts'
import type { TurnCompleted } from '../model/events/turn.ts'
import type { Entry } from '../model/index.ts'
import { type Asking, holdQuestion, takeAllUnasked, takeAsked, takeUnasked } from './daemon-asking.ts'
import { terminalOf } from './daemon-end.ts'
import type { StreamEvent } from './daemon-event.ts'
import { withRaw } from './daemon-raw.ts'
import { QUESTION_TOOL, questionsOf } from './daemon-request.ts'
import {
  cutText,
  isWhole,
  newShownText,
  type ShownText,
  showAgain,
  showDelta,
  showWhole,
} from './daemon-text.ts'
import { byRules, type Dialect, defineDialect, type Message, type Rules, silent } from './dialect.ts'
import { cutOffBy } from './outcome-words.ts'
import { isAskedHere } from './request-words.ts'
import { argumentsOf } from './tool-words.ts'

interface DaemonState {
  readonly showsRaw: boolean
  readonly showsDrafts: boolean
  /** The agent's own id of the session. */
  sessionId: string | undefined
  /** As the agent has told it; what was asked for may be another. */
  model: string | undefined
  /** The open turn; without one, nothing is said. */
  turn: number | undefined
  /** Was the `system` message of this exchange sent? */
  greeted: boolean
  /** Did the last entry end the exchange with a question? What follows is for the next stream. */
  asked: boolean
  text: ShownText
  /** A text that was cut and whose partials say all of it. It is a message only if the turn continues. */
  cut: StreamEvent | undefined
  /** The open calls as the reader has seen them. */
  readonly tools: Map<string, { name: string; input: unknown }>
  readonly asking: Asking
  ended: boolean
}

const NOTHING: readonly StreamEvent[] = []

const rules: Rules<DaemonState, StreamEvent> = {
  'session.updated': shakeHands,
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
  'tool.completed': (state, { toolId }) => {
    state.tools.delete(toolId)
    const unasked = takeUnasked(state.asking, toolId)
    return unasked ? speak(state, unasked) : NOTHING
  },
  'request.opened': ask,
  'session.started': silent,
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
  'limit.reported': silent,
  'notice.raised': (state, { code, message }) =>
    code === 'context_lost' ? speak(state, { type: 'system', subtype: code, message }) : NOTHING,
  'output.written': silent,
  'native.unmapped': silent,
}

const project = byRules(rules)

/**
 * What `session.send` streams, exchange by exchange: a turn, or a part of one that ends in a question.
 * It has no place for results of tools, thinking, file changes, plans, sub-agents but for their tools, limits and
 * notices other than `context_lost`, and none for what happens between two turns.
 */
export const daemon: Dialect = defineDialect({
  id: 'daemon',
  initial: (options): DaemonState => ({
    showsRaw: options.raw === '1',
    showsDrafts: options.partial_json === '1',
    sessionId: undefined,
    model: undefined,
    turn: undefined,
    greeted: false,
    asked: false,
    text: newShownText(),
    cut: undefined,
    tools: new Map(),
    asking: new Map(),
    ended: false,
  }),
  project(state, entry, raw) {
    if (state.ended) return NOTHING
    if (state.asked) beginNext(state)
    const said = project(state, entry)
    return state.showsRaw && raw !== undefined ? withRaw(said, entry.event.type, raw) : said
  },
  finished: (state) => state.ended,
})

const LAST: ReadonlySet<unknown> = new Set<StreamEvent['type']>(['result', 'error', 'interrupted', 'queued'])

/**
 * Does the exchange end with this message? A transport then sends `[DONE]`, and what follows is for the next stream.
 * Whose exchange it was is told by the entry's turn: a prompt can be queued while another turn is open.
 */
export function endsExchange(message: Message): boolean {
  return LAST.has(message.type)
}

/**
 * The question that was the last to be heard ends nothing, because somebody has answered it already: the reader stays,
 * and has what was said. The state is that of this dialect, and hidden as every dialect's is.
 */
export function goOn(state: unknown): void {
  const known = state as DaemonState
  known.asked = false
}

function beginNext(state: DaemonState): void {
  state.asked = false
  state.greeted = false
  state.cut = undefined
  cutText(state.text)
}

function speak(state: DaemonState, ...messages: StreamEvent[]): readonly StreamEvent[] {
  if (state.turn === undefined) return NOTHING
  const { cut } = state
  state.cut = undefined
  const all = cut && messages.length > 0 ? [cut, ...messages] : messages
  return state.greeted ? all : [greeting(state), ...all]
}

/** A text that was cut has no message of its own where the turn ends there: its partials are all there is. */
function completeText(state: DaemonState, event: TextCompleted): readonly StreamEvent[] {
  const isShown = event.partial === true && isWhole(state.text, event)
  const content = showWhole(state.text, event)
  if (content === '') return NOTHING
  const message: StreamEvent = { type: 'text', content }
  if (!isShown) return speak(state, message)
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

/** The reader hears at once that the agent is there, not only when it speaks. */
function shakeHands(state: DaemonState, event: SessionUpdated): readonly StreamEvent[] {
  state.model = event.model ?? state.model
  if (event.nativeSessionId === undefined) return NOTHING
  state.sessionId = event.nativeSessionId
  return speak(state)
}

function partial(state: DaemonState, content: string): readonly StreamEvent[] {
  return content === '' ? NOTHING : speak(state, { type: 'partial', content })
}

function startTool(state: DaemonState, { toolId, name, input }: ToolStarted): readonly StreamEvent[] {
  if (name === QUESTION_TOOL) {
    // Told when it is asked of a person.
    if (state.turn !== undefined) holdQuestion(state.asking, toolId, input)
    return NOTHING
  }
  // Agents call it by other names too, and some ask before they start the call.
  if (state.asking.has(toolId)) return NOTHING
  const call = showCall(state, toolId, name, input)
  return call ? speak(state, call) : NOTHING
}

/** The call, unless the reader has seen it with this input: some agents ask about a call before they start it. */
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
  return speak(state, { type: 'tool_use', tool, message })
}

function elapsed(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : `Running for ${Math.round(ms / 1000)} s`
}

/** A question to a person ends the exchange and leaves the turn open: what the person sends next is the answer. */
function ask(state: DaemonState, request: RequestOpened, { session }: Entry): readonly StreamEvent[] {
  const { blocking, requestId } = request
  if (!isAskedHere(request) || state.turn === undefined) return NOTHING
  const question: StreamEvent = {
    type: 'tool_use',
    tool: QUESTION_TOOL,
    input: questionsOf(request),
    request_id: requestId,
  }
  const said = speak(state, ...subjectOf(state, request), question)
  if (!blocking) return said
  state.asked = true
  return [...said, { type: 'result', session_id: state.sessionId ?? session }]
}

/** Nobody should allow what they have not seen: the call comes first. */
function subjectOf(state: DaemonState, request: RequestOpened): StreamEvent[] {
  const { questions, tool, toolId, input } = request
  if (tool === QUESTION_TOOL || (toolId !== undefined && state.asking.has(toolId))) {
    const call = takeAsked(state.asking, toolId)
    return call && !questions?.length ? [call] : []
  }
  // The question is all there is to the call.
  if (questions && toolId !== undefined) state.asking.set(toolId, undefined)
  if (questions || tool === undefined) return []
  if (toolId === undefined) return [toolUse(tool, input)]
  // A request that says nothing new is about the call as it was shown.
  const call = !isGiven(input) && state.tools.has(toolId) ? undefined : showCall(state, toolId, tool, input)
  return call ? [call] : []
}

function endTurn(state: DaemonState, event: TurnCompleted, entry: Entry): readonly StreamEvent[] {
  const last = terminalOf(event, { ...state, sessionId: state.sessionId ?? entry.session })
  // A prompt that never ran has an end of its own, which is not that of the open turn.
  if (event.turn !== state.turn) return [last]
  return lastWords(state, last)
}

function lastWords(state: DaemonState, last: StreamEvent): readonly StreamEvent[] {
  const unasked = takeAllUnasked(state.asking)
  if (last.type === 'error' || last.type === 'interrupted') state.cut = undefined
  const said = speak(state, ...unasked, last)
  state.turn = undefined
  return said
}

/** Every turn has its end in the log; were one missing, the reader would wait for ever. */
function endSession(state: DaemonState, event: SessionEnded): readonly StreamEvent[] {
  const { error } = event
  state.ended = true
  if (state.turn === undefined) return NOTHING
  const outcome = cutOffBy(event)
  if (outcome === 'interrupted') return lastWords(state, { type: 'interrupted' })
  const message = error?.message ?? 'the session ended before the turn did'
  return lastWords(state, { type: 'error', message, ...(error && { code: error.code }), outcome })
}
