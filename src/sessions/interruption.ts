import type { Timers } from '../drivers/driver.ts'
import type { Command } from '../model/index.ts'
import type { AgentProcess } from './agent-process.ts'
import type { Conversation } from './conversation.ts'
import { interruptUnconfirmed } from './notices.ts'
import { withTimeout } from './with-timeout.ts'

/** How long an agent may take to stop by its own protocol before its process is ended. */
export const PROTOCOL_GRACE_MS = 2_000

/** A signal follows these commands, so an agent may refuse them. */
export function isStop({ type }: Command): boolean {
  return type === 'interrupt' || type === 'close'
}

export interface InterruptionOwner {
  readonly conversation: Conversation
  readonly process: AgentProcess
  /** Starts the next queued turn, if any. */
  startNext(): void
  fail(thrown: unknown): void
}

/**
 * Stops turns, and keeps a turn from beginning on a process that has not confirmed an interrupt: the interrupt could
 * still take effect and stop that turn, or the output that it cut could still arrive.
 */
export class Interruption {
  readonly #owner: InterruptionOwner
  readonly #timers: Timers
  #waiting: PromiseWithResolvers<void> | undefined

  constructor(owner: InterruptionOwner, timers: Timers) {
    this.#owner = owner
    this.#timers = timers
  }

  /** Ends the process if the turn is still open after the grace. Without `settled` there is no grace. */
  async stop(turn: number, settled: Promise<unknown> | undefined): Promise<void> {
    if (settled) await withTimeout(this.#timers, PROTOCOL_GRACE_MS, settled)
    if (this.#owner.conversation.turn === turn) await this.#owner.process.stop()
  }

  /** True while the running process has not confirmed an interrupt. */
  get unconfirmed(): boolean {
    return this.#owner.process.running && this.#owner.conversation.unconfirmed
  }

  /** Waits for the confirmation after the turn has ended, then starts the queue, on this process or a new one. */
  awaitConfirmation(): void {
    if (this.#waiting) return
    this.#waiting = Promise.withResolvers()
    this.#confirm(this.#waiting.promise).catch((thrown) => this.#owner.fail(thrown))
  }

  /** The agent wrote something, which may be the confirmation. */
  outputRead(): void {
    if (!this.unconfirmed) this.#waiting?.resolve()
  }

  async #confirm(confirmed: Promise<void>): Promise<void> {
    await withTimeout(this.#timers, PROTOCOL_GRACE_MS, confirmed)
    this.#waiting = undefined
    // Otherwise the exit of the process starts the queue.
    if (!this.unconfirmed) return this.#owner.startNext()
    this.#owner.conversation.notify(interruptUnconfirmed(PROTOCOL_GRACE_MS))
    await this.#owner.process.stop()
  }
}
