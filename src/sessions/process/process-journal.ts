import type { Launch } from '../../agents/agent.ts'
import type { OutputPosition } from '../../drivers/driver.ts'
import type { Frame } from '../../framing/frame.ts'
import { type ErrorInfo, MainstemError, toMainstemError } from '../../model/index.ts'
import type { KeptFrame } from '../machine/rebuild.ts'
import { type Sent, sentText } from '../machine/sent.ts'
import type { SessionParts } from '../session-parts.ts'
import type { PromptCommand } from './setup.ts'

/**
 * Keeps both directions of the agent's process in the journal. For a process that outlives us it also keeps how far the
 * output was read, and what the journal hides: its next owner rebuilds the state from them.
 */
export class ProcessJournal {
  readonly #parts: SessionParts
  /** The last prompt: its images may be written long after its command. */
  prompt: PromptCommand | undefined
  /** The run id of a process that outlives us. */
  #runId: string | undefined

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  /** The process outlives us. */
  get isLasting(): boolean {
    return this.#runId !== undefined
  }

  /** Creates the folder of a process that is to outlive us. Refused if it cannot be created. */
  prepare({ kind }: Launch, runId: string, frame: number): ErrorInfo | undefined {
    const { driver, journal } = this.#parts.deps
    this.#runId = undefined
    if (!driver.lasting || !journal || (kind !== 'process' && kind !== 'server')) return undefined
    try {
      driver.lasting.prepare(runId, frame)
      this.#runId = runId
      return undefined
    } catch (thrown) {
      const { message } = toMainstemError(thrown)
      return { code: 'storage_failed', message: `the folder of the agent cannot be created: ${message}` }
    }
  }

  /** Continues the journal of a process that an earlier owner started. */
  attach(runId: string): void {
    this.#runId = runId
  }

  /** Call when the process has exited. Call the result when its end is committed. */
  ended(): () => Promise<void> {
    const runId = this.#runId
    if (runId !== undefined) this.sent({ exited: true })
    this.#runId = undefined
    return async () => {
      if (runId !== undefined) await this.#parts.deps.driver.lasting?.remove(runId)
    }
  }

  /** Adds a step towards the agent. */
  sent(sent: Sent, frame = this.#parts.conversation.countSent()): void {
    const { deps, setup, mask, secretAnswers, log, conversation } = this.#parts
    if (!deps.journal) return
    const { images = [] } = this.prompt ?? {}
    const text = secretAnswers.journal(sent, sentText(sent, { options: setup.options, images, mask }))
    log.keepSent(frame, text, conversation.coverage, this.isLasting)
    const whole = this.isLasting ? JSON.stringify(sent) : text
    if (whole !== text) this.#keep(frame, { text: whole })
  }

  /** Adds a frame that the conversation has decoded. */
  frame({ stream, text, large, blob }: Frame): void {
    const { deps, log, conversation } = this.#parts
    if (!deps.journal || blob) return
    const kept = log.keepFrame(conversation.frames, stream, text)
    if (kept !== text || large) this.#keep(conversation.frames, { text, large })
  }

  /** Call after all frames of a batch. */
  read(position: OutputPosition | undefined): void {
    const { deps, log, conversation } = this.#parts
    if (!deps.journal) return
    if (position && this.isLasting) log.covered(conversation.countSent(), conversation.coverage, position)
    else log.covered(conversation.frames, conversation.coverage)
  }

  #keep(frame: number, kept: KeptFrame): void {
    if (this.#runId === undefined) return
    const { deps, session } = this.#parts
    try {
      deps.driver.lasting?.keep(this.#runId, frame, JSON.stringify(kept))
    } catch (thrown) {
      const { message } = toMainstemError(thrown)
      const error = new MainstemError('storage_failed', `the folder of the agent is not writable: ${message}`)
      // Half of a step is in the log, whose next commit would store it without the other half.
      session.lose(error)
      throw error
    }
  }
}
