/** The most entries that an agent may be ahead of the consumer. */
const MOST_AHEAD = 1_024

/** Pauses an agent that is too far ahead of its consumer, so that unread entries do not fill the memory. */
export class Backpressure {
  #head: () => Promise<number> = async () => 0
  #read = 0
  #released = false
  #changed = Promise.withResolvers<void>()

  /** Sets the log whose head is compared with the position of the consumer. */
  measure(head: () => Promise<number>): void {
    this.#head = head
  }

  /** Marks all entries up to `seq` as read. */
  acknowledge(seq: number): void {
    this.#read = seq
    this.#notify()
  }

  /** Stops pausing, because the run is about to end. */
  release(): void {
    this.#released = true
    this.#notify()
  }

  /** Resolves when the agent may write. */
  async ready(): Promise<void> {
    const head = await this.#head()
    while (!this.#released && head - this.#read > MOST_AHEAD) await this.#changed.promise
  }

  #notify(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}
