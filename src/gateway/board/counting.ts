import type { Dialect } from '../../dialects/dialect.ts'
import { MainstemError, type SessionRecord } from '../../model/index.ts'
import type { Sessions } from '../../sessions/sessions.ts'
import { checkKept, messageId } from '../streams/cursor.ts'
import type { Shown } from '../streams/format.ts'
import { copyOf, type Position, ProjectionCache } from '../streams/projection-cache.ts'

type Log = Pick<SessionRecord, 'id' | 'head' | 'earliest'>

/** A place in a log, and how many messages come before it. */
interface Counted extends Position {
  count: number
}

const BATCH = 512

/** The messages of a session by their numbers, read from the last place that is known before them. */
export class Counting {
  readonly #log: Pick<Sessions, 'read'>
  readonly #folds = new ProjectionCache<Counted>()

  constructor(log: Pick<Sessions, 'read'>) {
    this.#log = log
  }

  /** The messages from `offset` on, at most `limit`. */
  async slice(record: Log, dialect: Dialect, offset: number, limit: number): Promise<Shown[]> {
    const key = keyOf(record, dialect)
    const place = this.#folds.find(key, ({ count }) => count <= offset) ?? start(dialect)
    const found: Shown[] = []
    let same: Counted | undefined
    let next: Counted | undefined
    while (found.length < limit && place.seq < record.head) {
      const before = place.count
      const said = await this.#advance(record, dialect, place)
      found.push(...said.slice(Math.max(0, offset - before), offset + limit - before))
      if (place.count <= offset) same = copyOf(place)
      else if (place.count <= offset + limit) next = copyOf(place)
    }
    // Only where this page and the next one begin: more would push out what others know.
    this.#folds.keep(key, same)
    this.#folds.keep(key, next)
    return found
  }

  /** How many there are. */
  async total(record: Log, dialect: Dialect): Promise<number> {
    const key = keyOf(record, dialect)
    const place = this.#folds.find(key, ({ seq }) => seq <= record.head) ?? start(dialect)
    const known = place.seq
    while (place.seq < record.head) await this.#advance(record, dialect, place)
    if (place.seq > known) this.#folds.keep(key, place)
    return place.count
  }

  /** Goes on over some entries, with all that is said to them. */
  async #advance({ id, head }: Log, dialect: Dialect, place: Counted): Promise<Shown[]> {
    const limit = Math.min(BATCH, head - place.seq)
    const entries = await this.#log.read(id, place.seq, limit)
    if (entries.length === 0) throw new MainstemError('session_not_found', 'the session was removed')
    const shown: Shown[] = []
    for (const entry of entries) {
      const messages = dialect.project(place.state, entry)
      for (const [index, message] of messages.entries()) {
        shown.push({ id: messageId(entry.seq, index + 1, messages.length), message })
      }
      place.seq = entry.seq
    }
    place.count += shown.length
    return shown
  }
}

/** Messages are counted from the first entry on, so it has to be there. */
function keyOf({ id, earliest }: Log, dialect: Dialect): string {
  checkKept(0, earliest)
  return `${id} ${dialect.id}`
}

function start(dialect: Dialect): Counted {
  return { seq: 0, count: 0, state: dialect.initial({}) }
}
