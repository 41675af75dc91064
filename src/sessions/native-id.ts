import type { TurnVerdict } from '../agents/agent.ts'
import { OUTSIDE_ID } from '../model/index.ts'

/**
 * The agent's own id of the conversation, for resuming it in a new process. An id counts only once the session
 * behind it is proven by work done in it: agents announce ids of sessions that never come to be.
 */
export class NativeId {
  #proven: string | undefined
  #announced: string | undefined
  /** The id that the running process was started with. */
  #resuming: string | undefined

  constructor(resume: string | undefined) {
    this.#proven = resume
  }

  get proven(): string | undefined {
    return this.#proven
  }

  /** Goes on with another conversation, whose owner answers for it. */
  adopt(id: string): void {
    this.#proven = id
    this.#announced = undefined
  }

  /** A process starts: what to resume, if anything. */
  launch(): string | undefined {
    this.#announced = undefined
    this.#resuming = this.#proven
    return this.#proven
  }

  /** The agent names a conversation, which may never come to be. */
  announce(id: string | undefined): void {
    // Only an id that is safe on an argv can ever be used to resume.
    if (id !== undefined && OUTSIDE_ID.test(id)) this.#announced = id
  }

  /** Work was done in it. */
  prove(): void {
    if (this.#announced === undefined) return
    this.#proven = this.#announced
    this.#announced = undefined
  }

  /** A turn has ended in it. */
  judge({ error, evidence }: TurnVerdict): void {
    // Told once, by the turn that failed; asking for it again would fail for ever.
    if (error?.code === 'session_not_found') this.#forget()
    else if (evidence === 'success') this.prove()
  }

  #forget(): void {
    if (this.#resuming !== undefined) this.#proven = undefined
  }
}
