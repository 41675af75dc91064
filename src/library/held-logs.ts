import type { Sessions } from '../sessions/sessions.ts'

/** Whoever has this can still ask for the log of the session. */
export interface Hold {
  readonly session: string
}

/**
 * Logs are in memory for those who can ask for them: the handle of a session, and those of its turns. When nobody holds
 * one any more, what is left of a session that has ended is let go, so that a program may open sessions for ever.
 */
export class HeldLogs {
  readonly #registry: FinalizationRegistry<string>

  constructor(sessions: Sessions) {
    // Nobody is there to be told when it fails: what could not be let go stays.
    this.#registry = new FinalizationRegistry((id) => letGo(sessions, id).catch(() => undefined))
  }

  hold(session: string): Hold {
    const hold: Hold = { session }
    this.#registry.register(hold, session)
    return hold
  }
}

async function letGo(sessions: Sessions, id: string): Promise<void> {
  const record = await sessions.record(id)
  if (record?.status === 'ended') await sessions.delete(id)
}
