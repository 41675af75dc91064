import type { SessionParts } from '../session-parts.ts'
import type { WarmSession } from './warm-pool.ts'

/**
 * The place of a session among the processes of this server: taken before a turn, kept for the next one while the
 * process is idle, and given up after a time or when another session needs it.
 */
export class ProcessPlace implements WarmSession {
  readonly principal: string
  readonly #parts: SessionParts
  #closing: Promise<void> | undefined

  constructor(parts: SessionParts) {
    this.principal = parts.state.principal
    this.#parts = parts
  }

  get idle(): boolean {
    const { agent, turns, session } = this.#parts
    return agent.running && !turns.busy && !session.isOver
  }

  /** The close of an idle process that is underway. */
  get closing(): Promise<void> | undefined {
    return this.#closing
  }

  /** Takes a place, unless this session has a process at work, and keeps an idle process. */
  async take(): Promise<void> {
    const { alarms, deps, turns } = this.#parts
    alarms.disarm('idle')
    await this.#closing
    if (!turns.busy) await deps.pool.admit(this)
  }

  /** Starts the agent process before the first prompt. */
  async warm(): Promise<void> {
    const { agent, log, session, setup, turns } = this.#parts
    if (setup.launch === 'oneshot') return
    await this.take()
    if (turns.busy || session.isOver) return
    if (!agent.running) agent.start()
    this.keep()
    await log.commit()
  }

  /** Keeps the process for a time, if the conversation can be resumed by a new one. */
  keep(): void {
    const { alarms, deps, session, setup } = this.#parts
    if (setup.launch === 'oneshot' || !setup.recipe.capabilities.resume || session.isOver) return
    alarms.arm('idle', deps.idleProcessMs, () => this.#parts.run(this.closeIdle()))
  }

  /** Closes an idle process; concurrent calls share one close. The next prompt starts a new one, which resumes the conversation. */
  closeIdle(): Promise<void> {
    this.#closing ??= this.close().finally(() => {
      this.#closing = undefined
    })
    return this.#closing
  }

  /** Ends the process in order, and then what decides its requests. */
  async close(): Promise<void> {
    await this.#parts.agent.close()
    await this.#parts.answering.stop()
  }
}
