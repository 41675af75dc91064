import { handOverText } from '../../model/events/hand-over-text.ts'
import type { LimitReported, NoticeRaised } from '../../model/events/report.ts'
import type { SessionHandedOver } from '../../model/events/session.ts'
import { isoTime } from './iso-time.ts'

/** A fact that changes what a client can expect of a session, and ends nothing. */
export interface Announcement {
  code: 'context_lost' | 'agent_silent' | 'quota' | 'handed_over'
  message: string
}

/** The events that may contain an announcement. */
export type AnnouncingEvent = NoticeRaised | LimitReported | SessionHandedOver

/**
 * The announcement in an event, if it is one. Dialects whose documents have no such event carry each in the place that
 * they have for notices.
 */
export function announcementOf(event: AnnouncingEvent): Announcement | undefined {
  if (event.type === 'session.handed_over') return { code: 'handed_over', message: handOverText(event) }
  if (event.type === 'limit.reported') return event.kind === 'quota' ? quota(event) : undefined
  const { code, message } = event
  return code === 'context_lost' || code === 'agent_silent' ? { code, message } : undefined
}

function quota({ message, resetsAt, account }: LimitReported): Announcement {
  const limit = message === undefined ? '' : ` (${message})`
  const until = resetsAt === undefined ? '' : ` until ${isoTime(resetsAt)}`
  const billed = account === undefined ? '' : `, billed to ${account}`
  return { code: 'quota', message: `The usage limit is used up${until}${billed}${limit}` }
}
