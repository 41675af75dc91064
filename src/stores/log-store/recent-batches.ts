import type { Recent, RecentLog } from './recent-log.ts'

/** The limit of recent text in memory for readers that follow closely. Each batch also counts a fixed amount. */
const RECENT_CHARS = 1024 * 1024
const BATCH_CHARS = 512

/** The newest batches of all logs, within a limit of memory. */
export class RecentBatches<Log extends RecentLog> {
  readonly #released: (log: Log) => void
  /** The cached batches and their logs, oldest first. */
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
    // The newest batch stays, however large: readers are about to read it.
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
