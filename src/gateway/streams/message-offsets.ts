import { type Entry, MainstemError, type SessionRecord } from '../../model/index.ts'
import { contentSize } from '../../model/text/content-size.ts'
import { ROOM_WAIT_MS } from '../../reading/log-reader.ts'
import type { Sessions } from '../../sessions/sessions.ts'
import { badCursor, checkKept, type MessageCursor, messageId, parseCursor, START } from './cursor.ts'
import type { StreamMessage } from './format.ts'
import { PAGE_BYTES, type PageRoom } from './page-room.ts'
import { copyOf, ProjectionCache, type ProjectionState } from './projection-cache.ts'
import type { StreamView } from './projector.ts'

type OffsetLog = Pick<SessionRecord, 'id' | 'head' | 'earliest'>

/** The messages that are counted: those of a dialect with options that change their number. */
type Counting = Pick<StreamView, 'dialect' | 'options'>

/** A position in a log, with the number of messages before it. */
interface Counted extends ProjectionState {
  count: number
}

/** Reads the messages of a session by message offset, starting from the nearest cached position. */
export class MessageOffsets {
  readonly #log: Pick<Sessions, 'head' | 'replay'>
  readonly #cache = new ProjectionCache<Counted>()

  constructor(log: Pick<Sessions, 'head' | 'replay'>) {
    this.#log = log
  }

  /** Returns the messages from `offset` on, at most `limit`, within the size of a page. */
  async slice(
    record: OffsetLog,
    view: Counting,
    { offset, limit, room }: { offset: number; limit: number; room?: PageRoom },
  ): Promise<StreamMessage[]> {
    const key = keyOf(record, view)
    const position = this.#cache.find(key, ({ count }) => count <= offset) ?? start(view)
    const found: StreamMessage[] = []
    let bytes = 0
    let same: Counted | undefined
    let next: Counted | undefined
    const isFull = () => found.length >= limit || bytes >= PAGE_BYTES
    const pieces = this.#pieces(record, position, room?.signal)
    while (!isFull() && position.seq < record.head) {
      let number = position.count
      for (const messages of advance(view, position, await nextOf(pieces))) {
        const isWanted = number++ >= offset && !isFull()
        if (!isWanted) continue
        found.push(messages)
        bytes += contentSize(messages.message)
      }
      if (position.count <= offset) same = copyOf(position)
      else if (position.count <= offset + found.length) next = copyOf(position)
    }
    if (room) room.keep(pieces)
    else await pieces.return(undefined)
    // Caches only the start of this page and of the next one: more would evict the positions of other clients.
    this.#cache.keep(key, same)
    this.#cache.keep(key, next)
    return found
  }

  /** Counts the messages. */
  async total(record: OffsetLog, view: Counting): Promise<number> {
    const key = keyOf(record, view)
    const position = this.#cache.find(key, ({ seq }) => seq <= record.head) ?? start(view)
    const known = position.seq
    const pieces = this.#pieces(record, position)
    while (position.seq < record.head) advance(view, position, await nextOf(pieces))
    if (position.seq > known) this.#cache.keep(key, position)
    return position.count
  }

  /** Returns the cursor after this many messages. */
  async cursorAt(record: OffsetLog, view: Counting, offset: number): Promise<MessageCursor> {
    if (offset === 0) return START
    const wanted = { offset: offset - 1, limit: 1 }
    let [last] = await this.slice(record, view, wanted)
    if (!last) {
      // As in `checkReached`, the store may have more than the owner of the session knows.
      const stored = { ...record, head: await this.#log.head(record.id) }
      last = (await this.slice(stored, view, wanted))[0]
    }
    if (!last) throw badCursor(`the session has only ${await this.total(record, view)} messages`, 'offset')
    return parseCursor(last.id) ?? START
  }

  #pieces({ id, head }: OffsetLog, { seq }: Counted, signal?: AbortSignal): EntryPieces {
    return this.#log.replay(id, seq, head, { waitMs: ROOM_WAIT_MS, ...(signal && { signal }) })
  }
}

type EntryPieces = AsyncGenerator<readonly Entry[]>

async function nextOf(pieces: EntryPieces): Promise<readonly Entry[]> {
  const { value: entries, done } = await pieces.next()
  if (done) throw new MainstemError('session_not_found', 'the session was removed')
  return entries
}

/** Projects entries and returns their messages. */
function advance({ dialect }: Counting, position: Counted, entries: readonly Entry[]): StreamMessage[] {
  const found: StreamMessage[] = []
  for (const entry of entries) {
    const messages = dialect.project(position.state, entry)
    for (const [index, message] of messages.entries()) {
      found.push({ id: messageId(entry.seq, index + 1, messages.length), message })
    }
    position.seq = entry.seq
  }
  position.count += found.length
  return found
}

/** Offsets count from the first entry, so it must be retained. */
function keyOf({ id, earliest }: OffsetLog, { dialect, options }: Counting): string {
  checkKept(0, earliest)
  return `${id} ${dialect.id} ${new URLSearchParams(options)}`
}

function start({ dialect, options }: Counting): Counted {
  return { seq: 0, count: 0, state: dialect.initial(options) }
}
