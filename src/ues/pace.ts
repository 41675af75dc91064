/** How many entries an agent may be ahead of whoever reads them. */
const MOST_AHEAD = 1_024

/** Keeps an agent from running away from its reader: what nobody reads must not pile up in memory. */
export class Pace {
  #head: () => Promise<number> = async () => 0
  #read = 0
  #free = false
  #moved = Promise.withResolvers<void>()

  /** Measures by this log from now on. */
  measure(head: () => Promise<number>): void {
    this.#head = head
  }

  /** The reader is done with everything up to here. */
  reached(seq: number): void {
    this.#read = seq
    this.#move()
  }

  /** Nobody needs to wait any more: the agent is about to end. */
  free(): void {
    this.#free = true
    this.#move()
  }

  /** Settles when the reader is near enough. */
  async room(): Promise<void> {
    const head = await this.#head()
    while (!this.#free && head - this.#read > MOST_AHEAD) await this.#moved.promise
  }

  #move(): void {
    this.#moved.resolve()
    this.#moved = Promise.withResolvers()
  }
}
