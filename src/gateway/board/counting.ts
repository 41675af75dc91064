import type { Dialect } from '../../dialects/dialect.ts'
import { contentSize } from '../../model/content-size.ts'
import { type Entry, MainstemError, type SessionRecord } from '../../model/index.ts'
import { ROOM_WAIT_MS } from '../../sessions/log-reader.ts'
import type { Sessions } from '../../sessions/sessions.ts'
import { checkKept, messageId } from '../streams/cursor.ts'
import type { Shown } from '../streams/format.ts'
import { PAGE_BYTES, type PageRoom } from '../streams/page-room.ts'
import { copyOf, type Position, ProjectionCache } from '../streams/projection-cache.ts'

type Log = Pick<SessionRecord, 'id' | 'head' | 'earliest'>

/** A place in a log, and how many messages come before it. */
interface Counted extends Position {
  count: number
}

/** The messages of a session by their numbers, read from the last place that is known before them. */
export class Counting {
  readonly #log: Pick<Sessions, 'replay'>
  readonly #folds = new ProjectionCache<Counted>()

  constructor(log: Pick<Sessions, 'replay'>) {
    this.#log = log
  }

  /** The messages from `offset` on, at most `limit`, and no more than a page holds. */
  async slice(
    record: Log,
    dialect: Dialect,
    { offset, limit, room }: { offset: number; limit: number; room?: PageRoom },
  ): Promise<Shown[]> {
    const key = keyOf(record, dialect)
    const place = this.#folds.find(key, ({ count }) => count <= offset) ?? start(dialect)
    const found: Shown[] = []
    let bytes = 0
    let same: Counted | undefined
    let next: Counted | undefined
    const isFull = () => found.length >= limit || bytes >= PAGE_BYTES
    const pieces = this.#pieces(record, place, room?.signal)
    while (!isFull() && place.seq < record.head) {
      let number = place.count
      for (const shown of advance(dialect, place, await nextOf(pieces))) {
        const isWanted = number++ >= offset && !isFull()
        if (!isWanted) continue
        found.push(shown)
        bytes += contentSize(shown.message)
      }
      if (place.count <= offset) same = copyOf(place)
      else if (place.count <= offset + found.length) next = copyOf(place)
    }
    if (room) room.keep(pieces)
    else await pieces.return(undefined)
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
    const pieces = this.#pieces(record, place)
    while (place.seq < record.head) advance(dialect, place, await nextOf(pieces))
    if (place.seq > known) this.#folds.keep(key, place)
    return place.count
  }

  #pieces({ id, head }: Log, { seq }: Counted, signal?: AbortSignal): Pieces {
    return this.#log.replay(id, seq, head, { waitMs: ROOM_WAIT_MS, ...(signal && { signal }) })
  }
}

type Pieces = AsyncGenerator<readonly Entry[]>

async function nextOf(pieces: Pieces): Promise<readonly Entry[]> {
  const { value: entries, done } = await pieces.next()
  if (done) throw new MainstemError('session_not_found', 'the session was removed')
  return entries
}

/** Projects some entries, and returns their messages. */
function advance(dialect: Dialect, place: Counted, entries: readonly Entry[]): Shown[] {
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

/** Messages are counted from the first entry on, so it has to be there. */
function keyOf({ id, earliest }: Log, dialect: Dialect): string {
  checkKept(0, earliest)
  return `${id} ${dialect.id}`
}

function start(dialect: Dialect): Counted {
  return { seq: 0, count: 0, state: dialect.initial({}) }
}
