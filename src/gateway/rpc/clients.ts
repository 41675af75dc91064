/** Which clients listen to which session right now, and the last question that any of them was shown. */
export class Clients {
  /** The turns that are being streamed, by session; a turn may have several streams. */
  readonly #listening = new Map<string, number[]>()
  /** Sessions whose client came back by `session.reconnect` and was not cut off since. */
  readonly #back = new Set<string>()
  readonly #noting = new Map<string, Promise<void>>()
  /** Questions do not outlive this process, so neither need this. */
  readonly #shown = new Map<string, number>()

  /** Call the returned function when the stream is over. */
  attach(session: string, turn: number): () => void {
    this.#listening.set(session, [...this.turns(session), turn])
    return () => this.#leave(session, turn)
  }

  has(session: string): boolean {
    return this.#listening.has(session) || this.#back.has(session)
  }

  /** The turns that a client is being sent. */
  turns(session: string): readonly number[] {
    return this.#listening.get(session) ?? []
  }

  cameBack(session: string): void {
    this.#back.add(session)
  }

  /** A stream of the session broke before its end. */
  cutOff(session: string): void {
    this.#back.delete(session)
  }

  /** A client has seen all up to this entry. */
  show(session: string, seq: number): void {
    this.#shown.set(session, Math.max(seq, this.#shown.get(session) ?? 0))
  }

  hasSeen(session: string, seq: number): boolean {
    return seq <= (this.#shown.get(session) ?? 0)
  }

  /** Registers a write of what a client has got. `noted` waits for it, so that nothing is delivered twice. */
  async note(session: string, write: Promise<void>): Promise<void> {
    const before = this.#noting.get(session)
    const written = before ? Promise.allSettled([before, write]).then(() => write) : write
    this.#noting.set(session, written)
    try {
      await written
    } finally {
      if (this.#noting.get(session) === written) this.#noting.delete(session)
    }
  }

  async noted(session: string): Promise<void> {
    // The failure is reported by the caller of `note`.
    await this.#noting.get(session)?.catch(() => undefined)
  }

  forget(session: string): void {
    this.#shown.delete(session)
    this.#back.delete(session)
  }

  #leave(session: string, turn: number): void {
    const turns = [...this.turns(session)]
    turns.splice(turns.indexOf(turn), 1)
    if (turns.length > 0) this.#listening.set(session, turns)
    else this.#listening.delete(session)
  }
}
