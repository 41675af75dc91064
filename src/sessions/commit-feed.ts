import type { Entry, Outcome } from '../model/index.ts'
import type { Batch, SessionState } from '../stores/store.ts'

/** Entries of one session that were committed together. */
export interface Commit {
  session: string
  principal: string
  /** The first of its entries, by place among all entries of all sessions, and by `seq` in its own log. */
  place: number
  seq: number
  count: number
}

/** Commits that are remembered at least; whoever is further behind has to be told so. */
const KEPT = 16_384

/** What was committed since this process started, over all sessions and in one order. The entries stay in their logs. */
export class CommitFeed {
  readonly outcomes = new Map<Outcome, number>()
  readonly #kept: number
  readonly #waiting = new Set<() => void>()
  #commits: Commit[] = []
  #head = 0

  constructor(kept = KEPT) {
    this.#kept = kept
  }

  /** How many entries there were so far. */
  get head(): number {
    return this.#head
  }

  committed({ id, principal }: SessionState, { entries, record }: Batch): void {
    const [first] = entries
    if (!first) return
    const { length: count } = entries
    this.#commits.push({ session: id, principal, place: this.#head + 1, seq: first.seq, count })
    this.#head += count
    // Cut in large pieces, so that a commit costs nothing.
    if (this.#commits.length > 2 * this.#kept) this.#commits = this.#commits.slice(-this.#kept)
    // What ends a turn changes the record: most commits do not.
    if (record) this.#countOutcomes(entries)
    for (const wake of [...this.#waiting]) wake()
  }

  #countOutcomes(entries: readonly Entry[]): void {
    for (const { event } of entries) {
      if (event.type !== 'turn.completed') continue
      this.outcomes.set(event.outcome, (this.outcomes.get(event.outcome) ?? 0) + 1)
    }
  }

  /** The next commit with something after this place; nothing at the head. `gone` when it is no longer remembered. */
  after(place: number): Commit | 'gone' | undefined {
    if (place >= this.#head) return undefined
    const commits = this.#commits
    let [low, high] = [0, commits.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (lastOf(commits[middle]) > place) high = middle
      else low = middle + 1
    }
    const found = commits[low]
    return found && found.place <= place + 1 ? found : 'gone'
  }

  /** Settles when there is something after this place; also when the signal fires. */
  changed(place: number, signal: AbortSignal): Promise<void> {
    if (place < this.#head || signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal.addEventListener('abort', wake)
    })
  }
}

function lastOf(commit: Commit | undefined): number {
  return commit ? commit.place + commit.count - 1 : 0
}
