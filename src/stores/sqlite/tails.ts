import type { StatementSync } from 'node:sqlite'
import { integer } from '../row.ts'
import type { Commit } from './message.ts'

interface StoredTail {
  n: number
  head: number
  at: number
  /** The last frame of the journal; unknown if only an older version wrote to it. */
  journaled: number | null
  /** The last frame that is counted; unknown if only an older version counted. */
  counted: number | null
  /** False for a log of an older version until its end is known. */
  isKnown: boolean
}

/** The ends of logs and journals that one commit changes. */
export class StoredTails {
  readonly #tails = new Map<number, StoredTail>()
  readonly #stored: StatementSync
  readonly #begun: ReadonlySet<number>

  constructor(stored: StatementSync, { sessions }: Commit) {
    this.#stored = stored
    this.#begun = new Set(sessions.map((row) => integer(row, 'n')))
  }

  extend(n: number, head: number, at: number): void {
    Object.assign(this.#tail(n), { head, at, isKnown: true })
  }

  /** Adds a row of the journal. Returns the last frame of the row before. */
  journal(n: number, last: number): number | null {
    const tail = this.#tail(n)
    const { journaled: previous } = tail
    tail.journaled = last
    return previous
  }

  count(n: number, last: number): void {
    this.#tail(n).counted = last
  }

  get changed(): StoredTail[] {
    return [...this.#tails.values()].filter(({ isKnown }) => isKnown)
  }

  #tail(n: number): StoredTail {
    const known = this.#tails.get(n)
    if (known) return known
    const row = this.#begun.has(n) ? undefined : this.#stored.get(n)
    const tail = {
      n,
      head: row ? integer(row, 'head') : 0,
      at: row ? integer(row, 'at') : 0,
      journaled: this.#begun.has(n) ? 0 : numberOrNone(row?.journaled),
      counted: numberOrNone(row?.counted),
      isKnown: row !== undefined || this.#begun.has(n),
    }
    this.#tails.set(n, tail)
    return tail
  }
}

function numberOrNone(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}
