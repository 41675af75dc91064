import { integer, text } from '../row.ts'
import { fromColumn, toColumn } from './columns.ts'
import type { Database } from './database.ts'
import type { Place } from './run.ts'

/** The number of cached sessions. The next write is most likely to one of them. */
const REMEMBERED = 16_384

const PLACES = 'SELECT id, fence, writes, head, inherited FROM @session WHERE id = ANY($1::text[])'

/** Caches the last known state of sessions. It may be out of date; the database decides. */
export class Places {
  readonly #database: Database
  /** Least recently used first. */
  readonly #places = new Map<string, Place>()

  constructor(database: Database) {
    this.#database = database
  }

  get(session: string): Place | undefined {
    return this.#places.get(session)
  }

  set(session: string, place: Place): void {
    this.#places.delete(session)
    this.#places.set(session, place)
    for (const oldest of this.#places.keys()) {
      if (this.#places.size <= REMEMBERED) return
      this.#places.delete(oldest)
    }
  }

  forget(session: string): void {
    this.#places.delete(session)
  }

  /** Loads sessions that are not cached. */
  async load(sessions: readonly string[]): Promise<void> {
    const unknown = sessions.filter((session) => !this.#places.has(session))
    if (unknown.length === 0) return
    for (const row of await this.#database.read(PLACES, [unknown.map(toColumn)])) {
      const [fence, writes] = [integer(row, 'fence'), integer(row, 'writes')]
      const [head, inherited] = [integer(row, 'head'), integer(row, 'inherited')]
      this.set(fromColumn(text(row, 'id')), { fence, writes, head, inherited })
    }
  }
}
