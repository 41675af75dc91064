import type { TurnVerdict } from '../../agents/agent.ts'
import { OUTSIDE_ID } from '../../model/index.ts'

/** The ids of a conversation as the record keeps them. */
export interface NativeIds {
  /** The agent has worked in this native session. */
  proven?: string | undefined
  /** The agent named this native session and has not worked in it yet. */
  announced?: string | undefined
}

/**
 * The agent's id of the conversation, for resuming it in a new process. Agents announce ids of sessions that they may
 * never store, so an announced id is resumed, but it is dropped as soon as one resume of it fails.
 */
export class NativeId {
  #proven: string | undefined
  #announced: string | undefined
  /** The id that the running process was started with. */
  #resuming: string | undefined
  /** The id that the running process named. */
  #named: string | undefined
  /** The proven id before the open turn. */
  #provenBefore: string | undefined

  constructor({ proven, announced }: NativeIds) {
    this.#proven = proven
    this.#announced = announced
  }

  get ids(): NativeIds {
    return { proven: this.#proven, announced: this.#announced }
  }

  /** The running process was to resume an announced id, and has not named it yet. */
  get isUncertain(): boolean {
    return this.#resuming !== undefined && this.#resuming !== this.#proven && this.#named === undefined
  }

  /** Switches to another conversation, which the caller vouches for. */
  adopt(id: string): void {
    this.#proven = id
    this.#announced = undefined
  }

  /** Returns the id that the next process resumes. */
  launch(): string | undefined {
    this.#resuming = this.#proven ?? this.#announced
    this.#named = undefined
    return this.#resuming
  }

  /** Notes the id that the agent reports. Returns the id it was to resume when it opened another session. */
  announce(id: string | undefined): string | undefined {
    // Only an id that is safe on an argv can ever be used to resume.
    if (id === undefined || !OUTSIDE_ID.test(id)) return undefined
    const isFirst = this.#named === undefined
    this.#named = id
    this.#announced = id === this.#proven ? undefined : id
    return isFirst && id !== this.#resuming ? this.#resuming : undefined
  }

  /** A turn begins. */
  begin(): void {
    this.#provenBefore = this.#proven
  }

  /**
   * The process ended within the open turn. Some agents store a new session with its first finished turn only, so work
   * in this turn does not prove that the session can be resumed.
   */
  cut(): void {
    if (this.#proven === undefined || this.#proven === this.#provenBefore) return
    this.#announced = this.#proven
    this.#proven = undefined
  }

  /** The agent has worked in its session. */
  prove(): void {
    const id = this.#named ?? this.#resuming
    if (id === undefined) return
    this.#proven = id
    this.#announced = undefined
  }

  /** A turn has ended by itself. Drops an id that could not be resumed. Returns true when it resumed an announced id that the agent does not know. */
  turnEnded({ error }: Pick<TurnVerdict, 'error'>): boolean {
    const isGone = error?.code === 'session_not_found'
    const wasProven = this.#resuming === this.#proven
    // A process that failed before it named the session did not open it, and would fail in the same way again.
    const isUnopened = !wasProven && this.#named === undefined
    if (this.#resuming === undefined || !(isGone || isUnopened)) return false
    if (wasProven) this.#proven = undefined
    else this.#announced = undefined
    return isGone && !wasProven
  }
}
