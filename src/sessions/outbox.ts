import type { Receipt } from '../stores/store.ts'
import type { Log } from './log.ts'

/** Side effects that run after their entries are committed. */
export class Outbox {
  readonly #log: Log
  readonly #onFailure: (thrown: unknown) => void
  #effects: (() => void)[] = []

  /** `onFailure` is called if a commit fails, before `flush` rejects. */
  constructor(log: Log, onFailure: (thrown: unknown) => void) {
    this.#log = log
    this.#onFailure = onFailure
  }

  push(effect: () => void): void {
    this.#effects.push(effect)
  }

  /** The first commit. If the key exists already, nothing is logged and the effects are dropped. */
  async begin(receipt?: Receipt): Promise<Receipt | undefined> {
    const effects = this.#effects
    this.#effects = []
    const held = await this.#log.begin(receipt)
    if (held?.session === receipt?.session) for (const effect of effects) effect()
    return held
  }

  /** Commits pending entries, then runs their effects. */
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
