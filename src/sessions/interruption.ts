import type { Timers } from '../drivers/driver.ts'
import { type AgentProcess, PROTOCOL_GRACE_MS } from './agent-process.ts'
import type { Conversation } from './conversation.ts'
import { interruptUnconfirmed } from './notices.ts'
import { withTimeout } from './with-timeout.ts'

/**
 * Stops turns, and keeps a turn from beginning on a process that has not confirmed an interrupt: the interrupt could
 * still take effect and stop that turn, or the output that it cut could still arrive.
 */
export class Interruption {
  readonly #conversation: Conversation
  readonly #agent: AgentProcess
  readonly #timers: Timers
  #waiting: PromiseWithResolvers<void> | undefined

  constructor(conversation: Conversation, agent: AgentProcess, timers: Timers) {
    this.#conversation = conversation
    this.#agent = agent
    this.#timers = timers
  }

  /** Ends the process if the turn is still open after the grace. Without `settled` there is no grace. */
  async stop(turn: number, settled: Promise<unknown> | undefined): Promise<void> {
    if (settled) await withTimeout(this.#timers, PROTOCOL_GRACE_MS, settled)
    if (this.#conversation.turn === turn) await this.#agent.stop()
  }

  /** True while the running process has not confirmed an interrupt. */
  get unconfirmed(): boolean {
    return this.#agent.running && this.#conversation.unconfirmed
  }

  /**
   * Waits for the confirmation after the turn has ended, and ends the process without it. Returns true if the process
   * may run the next turn; otherwise its exit starts the queue. Undefined if another call waits already.
   */
  async confirmed(): Promise<boolean | undefined> {
    if (this.#waiting) return undefined
    this.#waiting = Promise.withResolvers()
    await withTimeout(this.#timers, PROTOCOL_GRACE_MS, this.#waiting.promise)
    this.#waiting = undefined
    if (!this.unconfirmed) return true
    this.#conversation.notify(interruptUnconfirmed(PROTOCOL_GRACE_MS))
    await this.#agent.stop()
    return false
  }

  /** The agent wrote something, which may be the confirmation. */
  outputRead(): void {
    if (this.#waiting && !this.unconfirmed) this.#waiting.resolve()
  }
}
