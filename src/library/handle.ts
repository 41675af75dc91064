import type { Session } from '../sessions/session.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { LogReference } from './log-references.ts'
import type { UnreadRetention } from './unread-retention.ts'

/** The objects that a session and its turns share. */
export interface Handle {
  readonly sessions: Sessions
  readonly session: Session
  /** Keeps the log in memory. */
  readonly log: LogReference
  /** Undefined if the session keeps all entries. */
  readonly retention: UnreadRetention | undefined
}
