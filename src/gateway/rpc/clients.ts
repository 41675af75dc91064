/** Who listens to which session right now, and the last question that anybody was shown of it. */
export class Clients {
  readonly #listening = new Map<string, number>()
  readonly #noting = new Map<string, Promise<void>>()
  /** Questions do not outlive this process, so neither need this. */
  readonly #shown = new Map<string, number>()

  /** The returned function says that this one has left. */
  attach(session: string): () => void {
    this.#listening.set(session, (this.#listening.get(session) ?? 0) + 1)
    return () => this.#leave(session)
  }

  has(session: string): boolean {
    return this.#listening.has(session)
  }

  /** Somebody has seen all up to this entry. */
  show(session: string, seq: number): void {
    this.#shown.set(session, Math.max(seq, this.#shown.get(session) ?? 0))
  }

  hasSeen(session: string, seq: number): boolean {
    return seq <= (this.#shown.get(session) ?? 0)
  }

  /** That a client has got all of an exchange is being written down. Whoever asks what was missed waits for it. */
  async note(session: string, written: Promise<void>): Promise<void> {
    this.#noting.set(session, written)
    try {
      await written
    } finally {
      if (this.#noting.get(session) === written) this.#noting.delete(session)
    }
  }

  async noted(session: string): Promise<void> {
    // Whoever writes it down is told when it fails.
    await this.#noting.get(session)?.catch(() => undefined)
  }

  forget(session: string): void {
    this.#shown.delete(session)
  }

  #leave(session: string): void {
    const left = (this.#listening.get(session) ?? 0) - 1
    if (left > 0) this.#listening.set(session, left)
    else this.#listening.delete(session)
  }
}
