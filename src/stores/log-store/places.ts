import { isDamaged, MainstemError } from '../../model/index.ts'
import { text } from '../row.ts'
import type { Backend, SessionPlace } from './backend.ts'
import { headIn } from './log-reads.ts'

/** The number of cached sessions. The next write is most likely to one of them. */
const REMEMBERED = 16_384

/** Caches the last known state of sessions. It may be out of date; the database decides. */
export class Places<P extends SessionPlace> {
  readonly #backend: Backend<P>
  /** Least recently used first. */
  readonly #places = new Map<string, P>()
  /** Sessions that were damaged when they were loaded last. */
  readonly #damaged = new Map<string, MainstemError>()

  constructor(backend: Backend<P>) {
    this.#backend = backend
  }

  get(session: string): P | undefined {
    return this.#places.get(session)
  }

  /** The refusal to write to a session whose row is damaged. */
  damageOf(session: string): MainstemError | undefined {
    return this.#damaged.get(session)
  }

  set(session: string, place: P): void {
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

  /** Loads the places of sessions. */
  async load(of: readonly { session: string }[]): Promise<void> {
    const unknown = of.map(({ session }) => session)
    const { rows } = this.#backend
    for (const session of unknown) this.#damaged.delete(session)
    for (const row of await rows.counters(unknown)) {
      const session = text(row, 'session')
      try {
        headIn(rows.sums, session, row)
        this.set(session, this.#backend.placeIn(row))
      } catch (thrown) {
        if (!(thrown instanceof MainstemError) || !isDamaged(thrown, session)) throw thrown
        this.#damaged.set(session, thrown)
      }
    }
  }
}
