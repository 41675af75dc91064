import type { SteerCommand } from '../../model/index.ts'
import type { Author } from '../../model/request/request.ts'
import { authorOf } from '../command-context.ts'
import type { Undecided } from './turn-machine.ts'

/** Steering prompts to remember. An agent need not report each of them. */
const MOST = 32

/** The senders of steering prompts that the agent has not reported yet: it reports their texts, often much later. */
export class Steers {
  readonly #sent: SteerCommand[] = []

  sent(command: SteerCommand): void {
    this.#sent.push(command)
    if (this.#sent.length > MOST) this.#sent.shift()
  }

  clear(): void {
    this.#sent.length = 0
  }

  /** Who sent the prompt that the agent reports; empty if it reports none, or no steering prompt is equal to it. */
  authorOf(reported: Undecided): Partial<Author> {
    if (reported.type !== 'turn.started' && reported.type !== 'turn.steered') return {}
    const { prompt } = reported
    const promptId = 'promptId' in reported ? reported.promptId : undefined
    const index = this.#sent.findIndex((steer) =>
      promptId === undefined ? steer.text === prompt : steer.promptId === promptId,
    )
    return authorOf(index < 0 ? undefined : this.#sent.splice(index, 1)[0])
  }
}
