import type { TurnCompleted } from '../../model/events/turn.ts'
import type { Entry, ErrorInfo, Event, MainstemError, SessionRecord } from '../../model/index.ts'
import type { Batch, SessionState, Store } from '../../stores/store.ts'
import { planContinuation } from '../continuations/plan.ts'
import { Log } from '../log/log.ts'
import { unansweredPrompt } from '../machine/agent-context.ts'
import { notContinued } from '../machine/notices.ts'
import { ownerGone } from '../machine/turn-error.ts'
import { TurnUsage, type UsageReports } from '../machine/turn-usage.ts'

const PAGE = 512

/** The limit of unfinished message text in memory, in characters. */
const MESSAGE_CHARS = 16 * 1024 * 1024

interface OpenMessage {
  kind: 'text' | 'thinking'
  text: string
  /** Characters beyond the limit. The log has them as increments. */
  dropped: number
  parent: string | undefined
}

type OpenTool = Pick<Extract<Event, { type: 'tool.started' }>, 'toolId' | 'name' | 'kind' | 'parent'>

/** A fold over a log: the items that it opened and did not close, in order. The record has the open requests. */
export class OpenWork {
  readonly messages = new Map<string, OpenMessage>()
  readonly tools = new Map<string, OpenTool>()
  readonly subagents = new Set<string>()
  reports: UsageReports = {}
  turn: { turn: number; at: number; usage: TurnUsage; hasWorked: boolean } | undefined
  #room: number

  constructor(messageChars = MESSAGE_CHARS) {
    this.#room = messageChars
  }

  add({ event, at }: Entry): void {
    this.turn?.usage.observe(event)
    if (this.turn && isWork(event)) this.turn.hasWorked = true
    switch (event.type) {
      case 'text.delta':
      case 'thinking.delta':
        this.#extend(event)
        break
      case 'text.completed':
      case 'thinking.completed':
      case 'message.discarded':
        this.#room += this.messages.get(event.messageId)?.text.length ?? 0
        this.messages.delete(event.messageId)
        break
      case 'tool.started':
        // Without the input, which may be large.
        this.tools.set(event.toolId, toolOf(event))
        break
      case 'tool.completed':
        this.tools.delete(event.toolId)
        break
      case 'subagent.started':
        this.subagents.add(event.id)
        break
      case 'subagent.completed':
        this.subagents.delete(event.id)
        break
      case 'session.started':
        this.reports = { capabilities: event.capabilities }
        break
      case 'turn.started':
        this.turn = { turn: event.turn, at, usage: new TurnUsage(this.reports), hasWorked: false }
        break
      case 'turn.completed':
        if (event.turn === this.turn?.turn) this.turn = undefined
        break
      default:
    }
  }

  #extend({
    type,
    messageId,
    text,
    parent,
  }: Extract<Event, { type: 'text.delta' | 'thinking.delta' }>): void {
    const kind = type === 'text.delta' ? 'text' : 'thinking'
    const open = this.messages.get(messageId) ?? { kind, text: '', dropped: 0, parent }
    // After a drop, further text would leave a hole.
    const kept = open.dropped > 0 ? '' : text.slice(0, this.#room)
    this.#room -= kept.length
    open.text += kept
    open.dropped += text.length - kept.length
    this.messages.set(messageId, open)
  }

  /** Adds the turn that is open in the record if its start was trimmed from the log. */
  complete({ openTurn, updatedAt }: SessionRecord): void {
    if (openTurn === undefined) return
    this.turn ??= { turn: openTurn, at: updatedAt, usage: new TurnUsage(this.reports), hasWorked: true }
  }
}

/** What only an agent emits that has read its prompt. */
function isWork(event: Event): boolean {
  if (event.type === 'usage.reported') return event.scope === 'step'
  if (event.type === 'request.opened') return event.kind !== 'login'
  return /^(?:text|thinking|tool)\./.test(event.type)
}

function toolOf({ toolId, name, kind, parent }: OpenTool): OpenTool {
  return { toolId, name, kind, parent }
}

/** The part of a session's state that decides how its open work is closed. */
type SettledState = Pick<SessionState, 'requests'> &
  Partial<Pick<SessionState, 'nativeSessionId' | 'announcedSessionId'>>

/**
 * Returns the events that close the open items of a session without an owner. Its turn is `lost`, or `failed` if the
 * failure is known. Returns no events if nothing is open, so recovery is repeatable.
 */
export function settlementOf(
  open: OpenWork,
  { requests, nativeSessionId, announcedSessionId }: SettledState,
  now: number,
  failure?: MainstemError,
  lostNode?: string,
  why?: string,
): { turn: number | undefined; events: Event[] } {
  const events: Event[] = []
  for (const [messageId, { kind, text, dropped, parent }] of open.messages) {
    const from = parent === undefined ? {} : { parent }
    const type = kind === 'text' ? 'text.completed' : 'thinking.completed'
    events.push({ type, messageId, text, partial: true, ...from })
    if (dropped > 0) events.push(truncatedNotice(messageId, dropped))
  }
  for (const requestId of new Set(requests.map((request) => request.requestId)))
    events.push({ type: 'request.withdrawn', requestId, reason: 'process_ended' })
  for (const { toolId, name, kind, parent } of open.tools.values()) {
    const from = parent === undefined ? {} : { parent }
    events.push({ type: 'tool.completed', toolId, name, kind, status: 'error', settled: true, ...from })
  }
  for (const id of open.subagents) events.push({ type: 'subagent.completed', id, status: 'cancelled' })
  if (open.turn) {
    const { turn, at, usage, hasWorked } = open.turn
    // Without a conversation to resume, the next process reports that it starts a new one.
    const resumes = nativeSessionId !== undefined || announcedSessionId !== undefined
    if (!hasWorked && resumes) events.push(unansweredPrompt(turn))
    events.push({
      type: 'turn.completed',
      turn,
      outcome: failure ? 'failed' : 'lost',
      error: failure ? { code: failure.code, message: failure.message } : goneError(lostNode, why),
      ...usage.ofLost(),
      durationMs: Math.max(0, now - at),
      denials: 0,
    })
  }
  return { turn: open.turn?.turn, events }
}

function goneError(node: string | undefined, why: string | undefined): ErrorInfo {
  if (why !== undefined) return { ...ownerGone(), message: why }
  if (node === undefined) return ownerGone()
  return { code: 'node_lost', message: `node "${node}", which ran the turn, went away` }
}

function truncatedNotice(messageId: string, dropped: number): Event {
  const message = `The last ${dropped} characters of message ${messageId} are only in its increments.`
  return {
    type: 'notice.raised',
    level: 'warning',
    code: 'message_truncated',
    message,
    data: { messageId, dropped },
  }
}

/** Whether the session has an open turn or an open request. */
export function hasOpenWork({ status, requests, openTurn }: SessionRecord): boolean {
  return status === 'busy' || openTurn !== undefined || requests.length > 0
}

/** Whether the session has had its only task and was not ended: its owner went away before. */
export function isTaskOver({ single, status, queue }: SessionRecord): boolean {
  return single === true && status !== 'ended' && queue.length === 0
}

interface Settling {
  fence: number
  now: number
  /** The error of the turn; without it the turn is `lost`. */
  failure?: MainstemError | undefined
  /** The other node that ran the turn. */
  lostNode?: string | undefined
  /** Why the turn is lost, if it is known. */
  why?: string | undefined
  committed?: ((state: SessionState, batch: Batch) => void) | undefined
}

/** Appends the events that close all open items of a log, and ends the session if its only task is over. */
export async function settleRecord(
  store: Store,
  record: SessionRecord,
  { fence, now, failure, lostNode, why, committed }: Settling,
): Promise<void> {
  const { head, updatedAt, earliest = 1, earliestFrame: _, ...state } = record
  const open = new OpenWork()
  for (let after = earliest - 1; after < head; ) {
    const entries = await store.read(record.id, after, PAGE)
    for (const entry of entries) open.add(entry)
    after = entries.at(-1)?.seq ?? head
  }
  open.complete(record)
  const { turn, events } = settlementOf(open, record, now, failure, lostNode, why)
  const log = new Log(state, { head, updatedAt, fence }, { store, clock: { now: () => now }, committed })
  for (const event of events) {
    if (event.type === 'turn.completed') planAhead(log, state, event, now)
    log.add(event, turn, undefined)
  }
  // A process of this epoch must not be continued any more.
  log.launched(record.epoch + 1)
  if (isTaskOver(record)) {
    log.add(
      { type: 'session.ended', reason: turn === undefined ? 'completed' : 'lost' },
      undefined,
      undefined,
    )
  }
  await log.commit()
}

/** Queues the prompt that continues a lost turn, before the end of the turn is logged. */
function planAhead(log: Log, state: SessionState, completed: TurnCompleted, now: number): void {
  const plan = planContinuation(state, completed, now)
  if (!plan) return
  if ('refused' in plan) {
    log.add(notContinued(completed.turn, plan.refused), completed.turn, undefined)
    return
  }
  const turn = state.turns + 1
  const { author, ...queued } = plan
  log.add({ type: 'turn.queued', turn, position: 1, ...queued, ...author }, turn, undefined)
}
