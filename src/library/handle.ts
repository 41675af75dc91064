import { MainstemError } from '../model/index.ts'
import type { Session } from '../sessions/session.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { LogReference } from './log-references.ts'
import type { UnreadRetention } from './unread-retention.ts'

interface HandleParts {
  sessions: Sessions
  session: Session
  log: LogReference
  /** Aborted when the library is closed. */
  closed: AbortSignal
  /** The last entry that was deleted before the handle was created; 0 if none was. */
  trimmed?: number
}

/** The objects that a session and its turns share. */
export class Handle {
  readonly sessions: Sessions
  /** Keeps the log in memory. */
  readonly log: LogReference
  readonly #closed: AbortSignal
  readonly #trimmed: number
  #session: Session

  constructor({ sessions, session, log, closed, trimmed = 0 }: HandleParts) {
    this.sessions = sessions
    this.log = log
    this.#session = session
    this.#closed = closed
    this.#trimmed = trimmed
  }

  /** Undefined if the session keeps all entries. */
  get retention(): UnreadRetention | undefined {
    return this.log.retention
  }

  /** The cursor before the first entry that can be read. */
  get start(): number {
    return this.retention?.evictedTo ?? this.#trimmed
  }

  get nativeSessionId(): string | undefined {
    return this.#session.nativeSessionId
  }

  /** The session for a command. It is another object after a failure of the disk was repaired. */
  async session(): Promise<Session> {
    checkOpen(this.#closed)
    const { session: id } = this.log
    this.#session = this.sessions.get(id) ?? (await this.sessions.open(id))
    return this.#session
  }

  /** Ignores an error of a reader after the library was closed, because its store is closed as well. */
  readFailed(thrown: unknown): void {
    if (!this.#closed.aborted) throw thrown
  }
}

/** Refuses a command after the library was closed. */
export function checkOpen(closed: AbortSignal): void {
  if (closed.aborted)
    throw new MainstemError('conflict', 'this Mainstem was closed: call mainstem() for a new one')
}
