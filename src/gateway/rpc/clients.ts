/** Tracks which clients follow which session, and the last question shown to any of them. */
export class Clients {
  /** The turns being streamed, by session; a turn may have several streams. */
  readonly #listening = new Map<string, number[]>()
  /** Sessions whose client called `session.reconnect` and has not been disconnected since. */
  readonly #back = new Set<string>()
  readonly #recording = new Map<string, Promise<void>>()
  /** In memory only, because open questions do not outlive this process. */
  readonly #shown = new Map<string, number>()

  /** Call the returned function when the stream ends. */
  attach(session: string, turn: number): () => void {
    this.#listening.set(session, [...this.turns(session), turn])
    return () => this.#leave(session, turn)
  }

  has(session: string): boolean {
    return this.#listening.has(session) || this.#back.has(session)
  }

  /** Returns the turns that are being streamed. */
  turns(session: string): readonly number[] {
    return this.#listening.get(session) ?? []
  }

  cameBack(session: string): void {
    this.#back.add(session)
  }

  /** Records that a stream of the session broke before its end. */
  cutOff(session: string): void {
    this.#back.delete(session)
  }

  /** Records that a client has seen all entries up to this one. */
  show(session: string, seq: number): void {
    this.#shown.set(session, Math.max(seq, this.#shown.get(session) ?? 0))
  }

  hasSeen(session: string, seq: number): boolean {
    return seq <= (this.#shown.get(session) ?? 0)
  }

  /** Registers a write that records deliveries. `deliveriesRecorded` waits for it, so that nothing is delivered twice. */
  async recordDelivery(session: string, write: Promise<void>): Promise<void> {
    const before = this.#recording.get(session)
    const written = before ? Promise.allSettled([before, write]).then(() => write) : write
    this.#recording.set(session, written)
    try {
      await written
    } finally {
      if (this.#recording.get(session) === written) this.#recording.delete(session)
    }
  }

  async deliveriesRecorded(session: string): Promise<void> {
    // The caller of `recordDelivery` reports the failure.
    await this.#recording.get(session)?.catch(() => undefined)
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
