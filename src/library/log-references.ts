import type { Sessions } from '../sessions/sessions.ts'
import type { UnreadRetention } from './unread-retention.ts'

/** Keeps the log of a session in memory for as long as the object is reachable. */
export interface LogReference {
  /** The id of the session. */
  readonly session: string
  /** Undefined if the session keeps all entries. */
  readonly retention: UnreadRetention | undefined
}

/**
 * Deletes the log of an ended session once no session handle or turn refers to it, so that a program may open any
 * number of sessions.
 */
export class LogReferences {
  readonly #registry: FinalizationRegistry<string>
  readonly #references = new Map<string, WeakRef<LogReference>>()

  constructor(sessions: Sessions) {
    this.#registry = new FinalizationRegistry((id) => {
      // A new handle of the session may have created a new reference.
      if (this.#references.get(id)?.deref()) return
      this.#references.delete(id)
      // A finalizer has no caller to report to. A log that cannot be deleted stays in memory.
      deleteEnded(sessions, id).catch(() => undefined)
    })
  }

  /** Returns the reference to the log of a session: the one that its other handles have, or a new one. */
  of(session: string, retention?: UnreadRetention): LogReference {
    const known = this.#references.get(session)?.deref()
    if (known) return known
    const reference: LogReference = { session, retention }
    this.#references.set(session, new WeakRef(reference))
    this.#registry.register(reference, session)
    return reference
  }
}

async function deleteEnded(sessions: Sessions, id: string): Promise<void> {
  const record = await sessions.record(id)
  if (record?.status === 'ended') await sessions.delete(id)
}
