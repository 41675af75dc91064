import type { Session } from '../sessions/session.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { Hold } from './held-logs.ts'
import type { Readers } from './readers.ts'

/** What a session and its turns have in common. */
export interface Handle {
  readonly sessions: Sessions
  readonly session: Session
  /** The log is there as long as this is. */
  readonly hold: Hold
  /** Absent where everything is kept. */
  readonly readers: Readers | undefined
}
