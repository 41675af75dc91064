import type { Entry } from '../../../src/model/index.ts'
import type { Sessions } from '../../../src/sessions/sessions.ts'

/** Follows one log over all its owners, and remembers what it was shown. */
export class SimulatedReader {
  readonly shown: Entry[] = []
  #left = new AbortController()

  /** The owner that served it is gone; it comes back to the next one with the last seq it has. */
  attach(sessions: Sessions, id: string): void {
    this.#left.abort()
    this.#left = new AbortController()
    // A server that cannot reach the store ends the stream; the next one goes on where it ended.
    this.#read(sessions, id, this.#left.signal).catch(() => undefined)
  }

  leave(): void {
    this.#left.abort()
  }

  async #read(sessions: Sessions, id: string, signal: AbortSignal): Promise<void> {
    for await (const entries of sessions.follow(id, this.shown.length, signal)) {
      if (signal.aborted) return
      this.shown.push(...entries)
    }
  }

  /** What is wrong with what it has, once everybody has come to rest. */
  problems(log: readonly Entry[]): string[] {
    const { shown } = this
    const wrong = shown.findIndex((entry, index) => JSON.stringify(entry) !== JSON.stringify(log[index]))
    if (wrong >= 0) return [`a reader was shown another entry ${wrong + 1} than the log has`]
    if (shown.length === log.length) return []
    return [`a reader was shown ${shown.length} of ${log.length} entries, and nothing wakes it`]
  }
}
