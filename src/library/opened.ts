import { type Wired, type Wiring, wire } from '../compose/wire.ts'
import { wireDurable } from '../compose/wire-durable.ts'
import { MainstemError, type SessionRecord } from '../model/index.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { type LogReference, LogReferences } from './log-references.ts'
import type { UnreadRetention } from './unread-retention.ts'

/** The sessions of a `Mainstem`, once their store is open. */
export class Opened {
  readonly sessions: Sessions
  readonly #wired: Wired
  /** Undefined if the logs are on disk. */
  readonly #references: LogReferences | undefined

  private constructor(wired: Wired, references?: LogReferences) {
    this.sessions = wired.sessions
    this.#wired = wired
    this.#references = references
  }

  /** Keeps the logs in memory. */
  static inMemory(wiring: Wiring): Opened {
    const wired = wire({ ...wiring, journal: false, audit: false })
    return new Opened(wired, new LogReferences(wired.sessions))
  }

  /** Keeps the logs in a directory. */
  static async onDisk(data: string, wiring: Wiring): Promise<Opened> {
    return new Opened(await wireDurable(data, wiring))
  }

  get isOnDisk(): boolean {
    return this.#references === undefined
  }

  /** A reference to the log of a session. A log on disk needs none to be kept. */
  log(session: string, retention?: UnreadRetention): LogReference {
    return this.#references?.of(session, retention) ?? { session, retention }
  }

  async record(id: string): Promise<SessionRecord> {
    const record = await this.sessions.record(id)
    if (!record) throw new MainstemError('session_not_found', `there is no session ${id}`)
    return record
  }

  async close(): Promise<void> {
    await this.#wired[Symbol.asyncDispose]()
  }
}
