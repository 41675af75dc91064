import type { NoticeRaised } from '../../model/events/report.ts'
import type { Entry, Event, EventType } from '../../model/index.ts'

/**
 * Error notices that may be the cause of the turn's end. Agents report a fatal error first and end the turn shortly
 * after with the same message; a notice stays pending until the log shows whether the turn ended.
 */
export type PendingErrors = NoticeRaised[]

/** Events of an agent that keeps working: an error before one of them did not end the turn. */
const CONTINUES: ReadonlySet<EventType> = new Set([
  'turn.started',
  'turn.steered',
  'text.delta',
  'thinking.delta',
  'tool.input.delta',
  'tool.started',
  'tool.updated',
  'tool.progressed',
  'file.changed',
  'plan.updated',
  'subagent.started',
  'subagent.progressed',
  'request.opened',
  'request.resolved',
  'context.compacted',
  'limit.reported',
])

/** Bounds the memory per subscriber when an agent reports only errors. */
const MOST_PENDING = 16

/** Returns the notices to report before this entry; drops those that the end of `turn` repeats. */
export function takeDue(
  pending: PendingErrors,
  { event }: Entry,
  turn: number | undefined,
): readonly NoticeRaised[] {
  if (pending.length === 0) return pending
  if (endsTurn(event, turn)) {
    const reason = event.error?.message ?? ''
    return pending.splice(0).filter(({ message }) => !reason.includes(message.trim()))
  }
  return continues(event, pending) || pending.length > MOST_PENDING ? pending.splice(0) : []
}

/** A completed item shows that the agent continues, unless it was cut off, or repeats the error as its text. */
function continues(event: Event, pending: PendingErrors): boolean {
  switch (event.type) {
    case 'text.completed':
      return event.partial !== true && !pending.some(({ message }) => event.text.includes(message.trim()))
    case 'thinking.completed':
      return event.partial !== true
    case 'tool.completed':
      return event.settled !== true
    default:
      return CONTINUES.has(event.type)
  }
}

type EndEvent = Extract<Event, { type: 'turn.completed' | 'session.ended' }>

/** A prompt dropped from the queue ends a different turn than the open one. */
function endsTurn(event: Event, turn: number | undefined): event is EndEvent {
  if (event.type === 'turn.completed') return turn === undefined || event.turn === turn
  return event.type === 'session.ended'
}
