import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { mainstem } from '../../dialects/mainstem.ts'
import { contentSize } from '../../model/content-size.ts'
import type { Entry, SessionRecord } from '../../model/index.ts'
import type { TurnRead } from '../../sessions/delivery.ts'
import { ROOM_WAIT_MS } from '../../sessions/log-reader.ts'
import type { GatewayDeps } from '../deps.ts'
import { named } from '../http/components.ts'
import { parseCursor, START } from './cursor.ts'
import type { Shown } from './format.ts'
import { PAGE_BYTES, PageRoom } from './page-room.ts'
import { copyOf, type Position, type ProjectionCache, projectionKey } from './projection-cache.ts'
import { Projector, type View } from './projector.ts'
import { rawFrames } from './raw-frames.ts'

/** Our own dialect has entries, the others have messages. */
export const Page = named(
  'Page',
  z.strictObject({
    entries: z.array(z.unknown()).optional(),
    messages: z.array(z.unknown()).optional(),
    next: z.string().describe('`after` for the next page'),
  }),
)
type Page = z.infer<typeof Page>

/** Who reads what: `from` is the last entry that need not be read. */
export interface Reading {
  id: string
  view: View
  from: number
  raw: boolean
}

interface PageRequest extends Reading {
  record: SessionRecord
  query: { limit?: number | undefined; wait?: number | undefined }
  folds: ProjectionCache
}

/** What ends a page besides `PAGE_BYTES`. With `countOnly` its messages are counted and not kept. */
interface PageLimits {
  limit: number
  room?: PageRoom
  countOnly?: boolean
}

const DEFAULT_LIMIT = 100

/** One page, as soon as there is something on it or the time is over. */
export async function pageOf(
  deps: GatewayDeps,
  reply: FastifyReply,
  principal: string,
  request: PageRequest,
): Promise<Page> {
  const { record, query, view, folds } = request
  const room = await PageRoom.enter(deps, reply)
  const page = new PageReader(deps, request, { limit: query.limit ?? DEFAULT_LIMIT, room }, folds)
  await page.read(record.head)
  const waitMs = (query.wait ?? 0) * 1000
  if (page.empty && waitMs > 0 && record.status !== 'ended') {
    const leave = deps.streams.enter(principal)
    try {
      await room.waitOutside(() => page.wait(waitMs, room.signal))
    } finally {
      leave()
    }
  }
  room.complete()
  return { [view.dialect === mainstem ? 'entries' : 'messages']: page.messages, next: page.next }
}

export class PageReader {
  readonly messages: unknown[] = []
  /** The turns that the messages are about, each up to the last entry that was read. */
  readonly turns = new Map<number, TurnRead>()
  readonly #deps: GatewayDeps
  readonly #reading: Reading
  readonly #projector: Projector
  readonly #limits: PageLimits
  readonly #folds: ProjectionCache
  #seq: number
  #next: string
  #count = 0
  #bytes = 0

  constructor(deps: GatewayDeps, reading: Reading, limits: PageLimits, folds: ProjectionCache) {
    const place = placeBefore(folds, reading)
    this.#deps = deps
    this.#reading = reading
    this.#projector = new Projector(reading.view, place?.state)
    this.#limits = limits
    this.#folds = folds
    this.#seq = place?.seq ?? reading.from
    const { seq, part } = reading.view.after
    this.#next = Number.isFinite(part) ? `${seq}.${part}` : `${seq}`
  }

  get empty(): boolean {
    return this.#count === 0
  }

  get count(): number {
    return this.#count
  }

  get next(): string {
    return this.#next
  }

  async read(head: number): Promise<void> {
    const cursor = Math.min(lastBefore(this.#reading), head)
    if (this.#seq < cursor) await this.#readTo(cursor)
    if (!this.full) await this.#readTo(head)
  }

  async #readTo(end: number): Promise<void> {
    const signal = this.#limits.room?.signal
    const options = { waitMs: ROOM_WAIT_MS, ...(signal && { signal }) }
    let place = this.#place()
    await this.#takeFrom(this.#deps.sessions.replay(this.#reading.id, this.#seq, end, options), () => {
      // A full page ends inside this piece, and the next page begins there.
      if (!this.full) place = this.#place()
      return this.full
    })
    if (this.full || this.#seq >= end) this.#keep(place)
  }

  /** Until there is a message, the time is over or the client is gone. */
  async wait(ms: number, gone: AbortSignal): Promise<void> {
    const over = AbortSignal.any([gone, AbortSignal.timeout(ms)])
    const pieces = this.#deps.sessions.follow(this.#reading.id, this.#seq, over)
    await this.#takeFrom(pieces, () => !this.empty)
  }

  get full(): boolean {
    return this.#count >= this.#limits.limit || this.#bytes >= PAGE_BYTES
  }

  async #takeFrom(pieces: AsyncGenerator<readonly Entry[]>, isDone: () => boolean): Promise<void> {
    for (;;) {
      const { value: entries, done } = await pieces.next()
      if (done) return
      await this.#take(entries)
      if (!isDone()) continue
      if (this.#limits.room) this.#limits.room.keep(pieces)
      else await pieces.return(undefined)
      return
    }
  }

  async #take(entries: readonly Entry[]): Promise<void> {
    const { id, raw, view } = this.#reading
    const frames = raw ? await rawFrames(this.#deps.sessions, id, entries) : undefined
    for (const shown of this.#projector.project(entries, frames)) {
      this.#add(shown)
      if (this.full) return this.#note(entries)
    }
    this.#note(entries)
    this.#seq = entries.at(-1)?.seq ?? this.#seq
    // A reader that is further on already is not sent back.
    if (this.#seq > view.after.seq) this.#next = `${this.#seq}`
  }

  /** The last entry of a full page may have more messages, so only the entries before it count as read. */
  #note(entries: readonly Entry[]): void {
    const { seq, part } = parseCursor(this.#next) ?? START
    const end = Number.isFinite(part) ? seq - 1 : seq
    const last = this.full ? end : Number.POSITIVE_INFINITY
    for (const { turn, seq, event } of entries) {
      if (turn === undefined || seq <= lastBefore(this.#reading) || seq > last) continue
      const ended = event.type === 'turn.completed' || this.turns.get(turn)?.ended === true
      this.turns.set(turn, { turn, seq, ended })
    }
  }

  /** Where it is, if that is worth knowing. */
  #place(): Position | undefined {
    if (keyOf(this.#reading) === undefined) return undefined
    return copyOf({ seq: this.#seq, state: this.#projector.state })
  }

  #keep(place: Position | undefined): void {
    this.#folds.keep(keyOf(this.#reading), place)
  }

  #add({ id, message }: Shown): void {
    this.#count++
    this.#next = id
    if (this.#limits.countOnly) return
    this.#bytes += contentSize(message)
    this.messages.push(message)
  }
}

/** The last known place from which all that is wanted can be told. */
function placeBefore(folds: ProjectionCache, reading: Reading): Position | undefined {
  const last = lastBefore(reading)
  return folds.find(keyOf(reading), ({ seq }) => seq <= last)
}

/** The last entry of which nothing is wanted. */
function lastBefore({ view: { after } }: Reading): number {
  return Number.isFinite(after.part) ? after.seq - 1 : after.seq
}

function keyOf({ id, view: { dialect, options }, from }: Reading): string | undefined {
  return projectionKey({ id, from, dialect, options })
}
