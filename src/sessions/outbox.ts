import type { Receipt } from '../stores/store.ts'
import type { Log } from './log.ts'

/** What is to happen outside once the entries that cause it are committed. */
export class Outbox {
  readonly #log: Log
  readonly #onFailure: (thrown: unknown) => void
  #effects: (() => void)[] = []

  /** `onFailure` is told when entries cannot be committed, before whoever waits for them. */
  constructor(log: Log, onFailure: (thrown: unknown) => void) {
    this.#log = log
    this.#onFailure = onFailure
  }

  push(effect: () => void): void {
    this.#effects.push(effect)
  }

  /** The first commit. Where somebody else holds the key, nothing was said and nothing happens. */
  async begin(receipt?: Receipt): Promise<Receipt | undefined> {
    const effects = this.#effects
    this.#effects = []
    const held = await this.#log.begin(receipt)
    if (held?.session === receipt?.session) for (const effect of effects) effect()
    return held
  }

  /** Commits what was said, then lets happen what was waiting for that. */
  async flush(): Promise<void> {
    const effects = this.#effects
    this.#effects = []
    try {
      await this.#log.commit()
    } catch (thrown) {
      this.#onFailure(thrown)
      throw thrown
    }
    for (const effect of effects) effect()
  }
}
