import { isNextFrame } from './journal-body.ts'
import type { DamageLocation } from './refusals.ts'
import { integer, type Row, text } from './row.ts'
import type { TableName } from './tables.ts'

/** What the row of a session says about the rows of other tables, and what was found of them. */
interface Known {
  session: string
  head: number
  /** Unknown if only an older version wrote to the journal. */
  journaled: number | undefined
  queued: number
  /** The next entry, the last frame so far, and the prompts so far. */
  next: number
  frame: number
  waiting: number
}

/** Finds rows that are lost or repeated: logs, journals and queues must lead from the beginning to the end. */
export class Continuity {
  readonly #sessions = new Map<string, Known>()
  readonly #found: (what: string, location: DamageLocation) => void

  constructor(found: (what: string, location: DamageLocation) => void) {
    this.#found = found
  }

  /** Takes the rows of the sessions first, then those of other tables, each session's in their order. */
  add(table: TableName, row: Row): void {
    if (table === 'session') this.#begin(row)
    const known = typeof row.session === 'string' ? this.#sessions.get(row.session) : undefined
    if (!known) return
    if (table === 'log') this.#log(known, row)
    if (table === 'journal') this.#journal(known, row)
    if (table === 'queued') known.waiting++
  }

  /** Call after the last row. */
  end(): void {
    for (const { session, head, next, journaled, frame, queued, waiting } of this.#sessions.values()) {
      if (next !== head + 1) this.#found('the end of the log', { session })
      if (journaled !== undefined && frame !== journaled) this.#found('the raw frames', { session })
      if (queued !== waiting) this.#found('the queue', { session })
    }
  }

  #begin(row: Row): void {
    if (typeof row.session !== 'string') return
    this.#sessions.set(row.session, {
      session: row.session,
      head: integer(row, 'head'),
      journaled: typeof row.journaled === 'number' ? row.journaled : undefined,
      queued: integer(row, 'queued'),
      next: integer(row, 'earliest'),
      frame: integer(row, 'earliest_frame') - 1,
      waiting: 0,
    })
  }

  #log(known: Known, row: Row): void {
    const [session, first, last] = [text(row, 'session'), integer(row, 'first'), integer(row, 'last')]
    if (first > known.next) this.#found('the log', { session, first: known.next, last: first - 1 })
    if (first < known.next) this.#found('the log', { session, first, last })
    known.next = last + 1
  }

  #journal(known: Known, row: Row): void {
    if (!isNextFrame(row, known.frame, false)) this.#found('the raw frames', { session: known.session })
    known.frame = integer(row, 'last')
  }
}
