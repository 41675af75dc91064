import type { Sessions } from '../sessions/sessions.ts'

/** Keeps the log of a session in memory for as long as the object is reachable. */
export interface LogReference {
  /** The id of the session. */
  readonly session: string
}

/**
 * Deletes the log of an ended session once no session handle or turn refers to it, so that a program may open any
 * number of sessions.
 */
export class LogReferences {
  readonly #registry: FinalizationRegistry<string>

  constructor(sessions: Sessions) {
    // A finalizer has no caller to report to. A log that cannot be deleted stays in memory.
    this.#registry = new FinalizationRegistry((id) => deleteEnded(sessions, id).catch(() => undefined))
  }

  /** Creates a reference to the log of a session. */
  create(session: string): LogReference {
    const reference: LogReference = { session }
    this.#registry.register(reference, session)
    return reference
  }
}

async function deleteEnded(sessions: Sessions, id: string): Promise<void> {
  const record = await sessions.record(id)
  if (record?.status === 'ended') await sessions.delete(id)
}
