import type { Log } from './log.ts'

/** What is to happen outside once the entries that cause it are committed. */
export class Outbox {
  readonly #log: Log
  #effects: (() => void)[] = []

  constructor(log: Log) {
    this.#log = log
  }

  push(effect: () => void): void {
    this.#effects.push(effect)
  }

  /** Commits what was said, then lets happen what was waiting for that. */
  async flush(): Promise<void> {
    const effects = this.#effects
    this.#effects = []
    await this.#log.commit()
    for (const effect of effects) effect()
  }
}
