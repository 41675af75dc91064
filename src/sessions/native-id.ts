import type { Said } from '../agents/agent.ts'
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

  hear(said: Said): void {
    if (said.type === 'session.updated') {
      const id = said.nativeSessionId
      // Only an id that is safe on an argv can ever be used to resume.
      if (id !== undefined && OUTSIDE_ID.test(id)) this.#announced = id
    } else if (said.type === 'turn.verdict' && said.error?.code === 'session_not_found') {
      // Told once, by the turn that failed; asking for it again would fail for ever.
      if (this.#resuming !== undefined) this.#proven = undefined
    } else if (this.#announced !== undefined && isWork(said)) {
      this.#proven = this.#announced
      this.#announced = undefined
    }
  }
}

function isWork(said: Said): boolean {
  switch (said.type) {
    case 'text.delta':
    case 'text.completed':
    case 'thinking.delta':
    case 'thinking.completed':
    case 'tool.started':
      return true
    case 'turn.verdict':
      return said.evidence === 'success'
    default:
      return false
  }
}
