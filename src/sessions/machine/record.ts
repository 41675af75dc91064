import type { LimitReported, UsageReported } from '../../model/events/report.ts'
import type { SessionHandedOver } from '../../model/events/session.ts'
import type { TurnStarted } from '../../model/events/turn.ts'
import { addUsage, type Event } from '../../model/index.ts'
import { contextAfter } from '../../model/session/context-after.ts'
import { queuePreview } from '../../model/session/queue-preview.ts'
import type { Charge, SessionState } from '../../stores/store.ts'
import type { SessionSetup } from '../process/setup.ts'

/** Characters of a title. */
const TITLE_CHARS = 120

/** Half of a character that has two code units. */
const CUT_CHARACTER = /[\ud800-\udbff]$/

/** The title of a session whose agent gives it none: the beginning of its first prompt, on one line. */
function promptTitle(prompt: string): string | undefined {
  // Not all of a long prompt is looked at.
  const line = prompt
    .slice(0, 10 * TITLE_CHARS)
    .replaceAll(/\s+/g, ' ')
    .trim()
  const title = line.slice(0, TITLE_CHARS).replace(CUT_CHARACTER, '')
  return title === '' ? undefined : title
}

/** The state of a session before its first entry. */
export function newRecord(setup: SessionSetup, principal: string, createdAt: number): SessionState {
  const { id, agent, launch, cwd, project, name, policy, options, attended, resume } = setup
  return {
    id,
    principal,
    agent: agent.id,
    launch,
    cwd,
    ...(project !== undefined && { project }),
    ...(name !== undefined && { name }),
    policy,
    options,
    attended,
    status: 'idle',
    createdAt,
    turns: 0,
    queue: [],
    requests: [],
    usage: {},
    frames: 0,
    ...(resume !== undefined && { resumedFrom: resume }),
    epoch: 0,
  }
}

/**
 * Folds an event into the state of its session. `at` is the time of its entry. Returns true if the state changed. `native` is the frame of the event,
 * if it came from the agent: output ends its silence.
 */
export function recordEvent(state: SessionState, event: Event, at: number, native?: number): boolean {
  const endsSilence = native !== undefined && state.silentSince !== undefined
  if (endsSilence) delete state.silentSince
  return fold(state, event, at) || endsSilence
}

function fold(state: SessionState, event: Event, at: number): boolean {
  switch (event.type) {
    case 'session.started':
      return true
    case 'session.updated':
      return update(state, event)
    case 'session.handed_over':
      return handOver(state, event)
    case 'session.ended':
      state.status = 'ended'
      state.queue = []
      return true
    case 'turn.queued':
      nameAfter(state, event.prompt)
      state.turns = Math.max(state.turns, event.turn)
      state.queue = [...state.queue, queuePreview(event)]
      return true
    case 'turn.started':
      nameAfter(state, event.prompt)
      state.turns = Math.max(state.turns, event.turn)
      state.openTurn = event.turn
      openedBy(state, event)
      state.status = 'busy'
      if (state.handedOver) state.handedOver = { ...state.handedOver, prompted: true }
      countContinuation(state, event)
      state.queue = state.queue.filter(({ turn }) => turn !== event.turn)
      return true
    case 'turn.completed':
      return endTurn(state, event)
    case 'request.opened':
      state.requests = [...state.requests, event]
      return true
    case 'request.resolved':
    case 'request.withdrawn':
      state.requests = state.requests.filter(({ requestId }) => requestId !== event.requestId)
      return true
    case 'context.compacted':
      return noteContext(state, event)
    case 'usage.reported': {
      const isFuller = noteContext(state, event)
      return addBackgroundUsage(state, event) || isFuller
    }
    case 'limit.reported':
      return reachLimit(state, event, at)
    case 'notice.raised':
      return event.code === 'agent_silent' && fallSilent(state, event.data)
    default:
      return false
  }
}

/** Everything that the record knows of the agent before is gone, besides the usage. */
function handOver(
  state: SessionState,
  { agent, launch, policy, model, through }: SessionHandedOver,
): boolean {
  const { model: _, fallbackModel: __, ...options } = state.options
  state.agent = agent
  state.launch = launch
  state.policy = policy
  state.options = model === undefined ? options : { ...options, model }
  state.handedOver = { through, prompted: false }
  for (const field of OF_THE_AGENT) delete state[field]
  return true
}

const OF_THE_AGENT = [
  'model',
  'mode',
  'context',
  'limit',
  'nativeSessionId',
  'announcedSessionId',
  'resumedFrom',
  'fork',
] as const

function noteContext(state: SessionState, event: Event): boolean {
  const context = contextAfter(state.context, event)
  if (context === state.context) return false
  if (context) state.context = context
  else delete state.context
  return true
}

function openedBy(state: SessionState, { principal, client }: TurnStarted): void {
  if (principal !== undefined && client) state.openTurnBy = { principal, client }
  else delete state.openTurnBy
}

/** A prompt of a person starts the count anew. The agent's own turns belong to the work before them. */
function countContinuation(state: SessionState, { turn, origin }: TurnStarted): void {
  const next = state.queue.find((queued) => queued.turn === turn)?.continuation
  if (next) state.continued = { attempt: next.attempt, until: next.until }
  else if (origin === 'prompt') delete state.continued
}

/** The agent may give the session a better title later. */
function nameAfter(state: SessionState, prompt = ''): void {
  const title = state.title ?? promptTitle(prompt)
  if (title !== undefined) state.title = title
}

/** Usage of a background sub-agent outside a turn: no turn's total includes it, so the session adds it directly. */
export function isBackgroundUsage({ openTurn }: SessionState, event: Event): event is UsageReported {
  return event.type === 'usage.reported' && event.scope === 'subagent' && openTurn === undefined
}

function addBackgroundUsage(state: SessionState, event: UsageReported): boolean {
  if (!isBackgroundUsage(state, event)) return false
  state.usage = addUsage(state.usage, event)
  return true
}

/** Of several limits that are used up, calls succeed when the last one has reset. One that has reset is over. */
function reachLimit(
  state: SessionState,
  { kind, resetsAt, message, account }: LimitReported,
  at: number,
): boolean {
  const known = state.limit?.resetsAt ?? 0
  if (kind !== 'quota' || (known > at && known > (resetsAt ?? 0))) return false
  state.limit = {
    ...(resetsAt !== undefined && { resetsAt }),
    ...(message !== undefined && { message }),
    ...(account !== undefined && { account }),
  }
  return true
}

function fallSilent(state: SessionState, data: unknown): boolean {
  const since: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, 'since') : undefined
  if (typeof since !== 'number' || state.silentSince !== undefined) return false
  state.silentSince = since
  return true
}

function update(
  state: SessionState,
  { name, title, model, policy, mode }: Extract<Event, { type: 'session.updated' }>,
): boolean {
  if (name === null) delete state.name
  else if (name !== undefined) state.name = name
  if (title !== undefined) state.title = title
  if (model !== undefined) state.model = model
  if (policy) state.policy = policy
  // The agent may leave the chosen mode itself, when its plan is approved.
  const left = mode !== undefined && state.mode !== undefined
  if (left) state.mode = mode
  return [name, title, model, policy].some((value) => value !== undefined) || left
}

function endTurn(state: SessionState, event: Extract<Event, { type: 'turn.completed' }>): boolean {
  if (event.turn === state.openTurn) {
    delete state.openTurn
    delete state.openTurnBy
    delete state.silentSince
    state.status = 'idle'
  }
  state.queue = state.queue.filter(({ turn }) => turn !== event.turn)
  state.lastOutcome = event.outcome
  if (event.outcome === 'completed') delete state.limit
  if (event.usage) state.usage = addUsage(state.usage, event.usage)
  return true
}

/**
 * The usage that an event adds to the account of its principal, if any. `state` includes the event. The usage of a turn
 * goes to the model that the session uses when the turn ends.
 */
export function chargeOf(state: SessionState, event: Event, at: number): Charge | undefined {
  const { principal, agent, model } = state
  const of = (used: string | undefined) => ({
    principal,
    agent,
    ...(used !== undefined && { model: used }),
    at,
  })
  switch (event.type) {
    case 'session.started':
      return { ...of(model), sessions: 1, turns: 0, usage: {} }
    case 'turn.completed':
      return { ...of(model), sessions: 0, turns: 1, usage: event.usage ?? {} }
    case 'usage.reported': {
      if (!isBackgroundUsage(state, event)) return undefined
      return { ...of(event.model ?? model), sessions: 0, turns: 0, usage: addUsage({}, event) }
    }
    default:
      return undefined
  }
}
