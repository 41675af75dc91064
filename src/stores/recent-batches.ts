import type { Recent, RecentLog } from './recent-log.ts'

/** How much text of recent entries is kept for readers that follow closely; a batch counts for some itself. */
const RECENT_CHARS = 1024 * 1024
const BATCH_CHARS = 512

/** The newest batches of all logs, within a limit of memory. */
export class RecentBatches<Log extends RecentLog> {
  readonly #released: (log: Log) => void
  /** What is kept of which log, oldest first. */
  #kept: { log: Log; batch: Recent; chars: number }[] = []
  #chars = 0

  /** `released` is called with a log whose oldest batch was evicted. */
  constructor(released: (log: Log) => void) {
    this.#released = released
  }

  keep(log: Log, batch: Recent, textChars: number): void {
    const chars = textChars + BATCH_CHARS
    log.recent.push(batch)
    this.#kept.push({ log, batch, chars })
    this.#chars += chars
    // The newest stays, however large: whoever reads along asks for it now.
    while (this.#chars > RECENT_CHARS && this.#kept.length > 1) this.#evictOldest()
  }

  clear(): void {
    this.#kept = []
    this.#chars = 0
  }

  #evictOldest(): void {
    const oldest = this.#kept.shift()
    if (!oldest) return
    const { log, batch, chars } = oldest
    this.#chars -= chars
    if (log.recent[0] === batch) log.recent.shift()
    this.#released(log)
  }
}
