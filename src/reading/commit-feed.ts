import type { Entry, Outcome } from '../model/index.ts'
import { Waiters } from '../model/waiters.ts'
import type { Batch, SessionState } from '../stores/store.ts'
import { Latency } from './latency.ts'

/** Entries of one session that were committed together. */
export interface CommittedEntries {
  session: string
  principal: string
  /** The first entry: its position among all entries of all sessions, and its `seq` in its own log. */
  position: number
  seq: number
  count: number
}

/** Commits kept at least. A reader that is further behind gets `gone`. */
const KEPT = 16_384

/** The commits of all sessions since this process started, in one order. Refers to entries; the logs have them. */
export class CommitFeed {
  readonly outcomes = new Map<Outcome, number>()
  /** From the time of an entry to the moment when it is stored and can be shown. */
  readonly latency = new Latency()
  readonly #kept: number
  readonly #waiting = new Waiters()
  #commits: CommittedEntries[] = []
  #head = 0

  constructor(kept = KEPT) {
    this.#kept = kept
  }

  /** The number of entries committed so far. */
  get head(): number {
    return this.#head
  }

  committed({ id, principal }: SessionState, { entries, record }: Batch, now?: number): void {
    const [first] = entries
    if (!first) return
    if (now !== undefined) this.latency.observe(now - first.at)
    const { length: count } = entries
    this.#commits.push({ session: id, principal, position: this.#head + 1, seq: first.seq, count })
    this.#head += count
    // Cut rarely and in large pieces, so that the cost per commit is negligible.
    if (this.#commits.length > 2 * this.#kept) this.#commits = this.#commits.slice(-this.#kept)
    // The end of a turn changes the record, so most commits need no scan.
    if (record) this.#countOutcomes(entries)
    this.#waiting.wake()
  }

  #countOutcomes(entries: readonly Entry[]): void {
    for (const { event } of entries) {
      if (event.type !== 'turn.completed') continue
      this.outcomes.set(event.outcome, (this.outcomes.get(event.outcome) ?? 0) + 1)
    }
  }

  /**
   * The commit that contains the next entry after a position; undefined at the head, `gone` if it was evicted. With a
   * principal, the next of its own commits, or the last of all.
   */
  after(position: number, principal?: string): CommittedEntries | 'gone' | undefined {
    if (position >= this.#head) return undefined
    const commits = this.#commits
    let [low, high] = [0, commits.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (lastOf(commits[middle]) > position) high = middle
      else low = middle + 1
    }
    const found = commits[low]
    if (!found || found.position > position + 1) return 'gone'
    if (principal === undefined) return found
    while (low < commits.length - 1 && commits[low]?.principal !== principal) low++
    return commits[low]
  }

  /** Resolves when there is an entry after this position, or when the signal fires. */
  changed(position: number, signal: AbortSignal): Promise<void> {
    return position < this.#head ? Promise.resolve() : this.#waiting.wait(signal)
  }
}

function lastOf(commit: CommittedEntries | undefined): number {
  return commit ? commit.position + commit.count - 1 : 0
}
