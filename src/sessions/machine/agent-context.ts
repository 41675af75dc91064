import type { TurnVerdict } from '../../agents/agent.ts'
import type { Cause, Event } from '../../model/index.ts'
import { NativeId, type NativeIds } from './native-id.ts'

/** The parts of a verdict that affect the context. */
export type Ending = Pick<TurnVerdict, 'error' | 'evidence' | 'forgotten'>

/** The state of the conversation before the first process. */
export interface EarlierContext {
  ids: NativeIds
  /** Earlier prompts exist that a new process has to know. */
  prompted: boolean
  /** Why the last prompt may be missing. */
  doubt?: string | undefined
  /** The conversation that a process copies when it resumes it. */
  forkOf?: string | undefined
}

/**
 * Tracks which prompts of a session the agent has in its context, and reports `context_lost` if some are missing,
 * before the agent works on the next prompt.
 */
export class AgentContext {
  readonly #id: NativeId
  /** False for agents that answer each prompt without the ones before. */
  readonly #isKept: boolean
  readonly #forkOf: string | undefined
  /** The running process copies the conversation that it resumes. */
  #forking = false
  #prompted: boolean
  /** `#prompted` before the running process started. */
  #promptedBefore = false
  /** The agent has worked on the open turn. */
  #worked = false
  /** The agent has reported how the open turn ended. */
  #answered = false
  /** The process of the open turn has exited. */
  #exited = false
  #retrying = false
  /** Why the last prompt is not in the context, or may not be. */
  #doubt: string | undefined

  constructor({ ids, prompted, doubt, forkOf }: EarlierContext, isKept: boolean) {
    this.#forkOf = forkOf
    this.#id = new NativeId(ids)
    this.#prompted = prompted
    this.#doubt = doubt
    this.#isKept = isKept
  }

  /** The prompt of the open turn goes to a new process, because this one could not resume. */
  get retrying(): boolean {
    return this.#retrying
  }

  get ids(): NativeIds {
    return this.#id.ids
  }

  /** The state before the next process, from which a later owner can rebuild it. */
  get earlier(): EarlierContext {
    return {
      ids: this.ids,
      prompted: this.#prompted,
      ...(this.#doubt !== undefined && { doubt: this.#doubt }),
      ...(this.#forkOf !== undefined && { forkOf: this.#forkOf }),
    }
  }

  adopt(id: string): void {
    this.#id.adopt(id)
  }

  /** A process is about to start. Returns the id to resume, or the loss when there is none to resume. */
  launch(): { resume: string | undefined; fork: boolean; lost: Event[] } {
    const resume = this.#id.launch()
    this.#forking = resume !== undefined && resume === this.#forkOf
    const fork = this.#forking
    this.#exited = false
    this.#retrying = false
    this.#promptedBefore = this.#prompted
    if (resume !== undefined || !this.#prompted) return { resume, fork, lost: [] }
    this.#doubt = undefined
    return {
      resume,
      fork,
      lost: this.#lost('The agent starts a new conversation and does not know the earlier turns.'),
    }
  }

  /** The agent named its session. Returns the loss when it is another than the one to resume. */
  announce(id: string | undefined): Event[] {
    const expected = this.#id.announce(id)
    // A copy has an id of its own.
    if (expected === undefined || this.#forking) return id === undefined ? [] : this.#missing()
    this.#doubt = undefined
    return this.#lost(
      `The agent was to resume session ${expected} and opened ${id}. It may not know the earlier turns.`,
    )
  }

  begin(): void {
    this.#id.begin()
    this.#worked = false
    this.#answered = false
  }

  /** The prompt of the open turn goes to the agent. Returns the loss of the prompt before it. */
  prompt(): Event[] {
    this.#prompted = true
    // A resume that may fail loses all of the conversation, which is then reported instead.
    return this.#id.isUncertain ? [] : this.#missing()
  }

  /** The process has exited; its codec now ends the open turn. */
  exited(): void {
    this.#exited = true
  }

  /** The turn is to end, so its prompt goes to no other process. */
  giveUp(): void {
    this.#retrying = false
  }

  #missing(): Event[] {
    const doubt = this.#doubt
    this.#doubt = undefined
    return doubt === undefined ? [] : this.#lost(doubt)
  }

  work(): void {
    this.#worked = true
    this.#id.prove()
  }

  /** A turn ends. Returns true when the same prompt can be sent again, to a new process with a new session. */
  turnEnded(verdict: Ending, turn: number | undefined, cause: Cause): boolean {
    if (verdict.forgotten)
      this.#doubt = `The agent may have dropped the prompt of turn ${turn}, which was interrupted.`
    this.#answered = verdict.evidence !== 'none' && verdict.evidence !== 'aborted'
    if (verdict.evidence === 'success') this.#id.prove()
    if (this.#exited && !this.#answered) this.#id.cut()
    // A turn that we ended says nothing about the native session.
    const isUnresumed = cause === 'exit' && this.#id.turnEnded(verdict) && !this.#worked
    this.#retrying ||= isUnresumed && turn !== undefined
    return this.#retrying
  }

  /** A turn was stopped before its prompt went to the agent. */
  withdraw(turn: number): void {
    this.#doubt = `Turn ${turn} was stopped before its prompt was sent. The agent does not know it.`
  }

  /** The process exited during a turn. */
  cut(turn: number, cause: Cause, started: boolean): void {
    if (!started) this.#prompted = this.#promptedBefore
    else if (!this.#worked && !this.#answered) this.#doubt = unanswered(turn)
    if (!this.#answered) this.#id.cut()
    if (cause === 'exit' && !this.#answered) this.#id.turnEnded({})
  }

  #lost(message: string): Event[] {
    if (!this.#isKept) return []
    return [contextLost(message)]
  }
}

function unanswered(turn: number): string {
  return `Turn ${turn} ended before the agent answered. The agent may not know its prompt.`
}

function contextLost(message: string): Event {
  return { type: 'notice.raised', level: 'warning', code: 'context_lost', message }
}

/** The prompt of a turn that ended with its server, before the agent did any work. */
export function unansweredPrompt(turn: number): Event {
  return contextLost(unanswered(turn))
}
