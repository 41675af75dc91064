import type { FastifyReply } from 'fastify'
import * as z from 'zod'
import { mainstem } from '../../dialects/mainstem.ts'
import type { Entry, SessionRecord } from '../../model/index.ts'
import { contentSize } from '../../model/text/content-size.ts'
import { ROOM_WAIT_MS } from '../../reading/log-reader.ts'
import type { TurnRead } from '../../sessions/turns/delivery.ts'
import type { GatewayDeps } from '../deps.ts'
import { named } from '../http/openapi/components.ts'
import { parseCursor, START } from './cursor.ts'
import type { StreamMessage } from './format.ts'
import { type FramedEntries, framedEntries } from './framed-entries.ts'
import { PAGE_BYTES, PageRoom } from './page-room.ts'
import { copyOf, type ProjectionCache, type ProjectionState, projectionKey } from './projection-cache.ts'
import { Projector, type StreamView } from './projector.ts'

/** The native dialect returns entries, other dialects return messages. */
export const Page = named(
  'Page',
  z.strictObject({
    entries: z.array(z.unknown()).optional(),
    messages: z.array(z.unknown()).optional(),
    next: z.string().describe('pass it as `after` to get the next page'),
  }),
)
type Page = z.infer<typeof Page>

/** The session and view of a reader; `from` is the last entry that need not be read. */
export interface Reading {
  id: string
  view: StreamView
  from: number
  raw: boolean
}

interface PageRequest extends Reading {
  record: SessionRecord
  query: { limit?: number | undefined; wait?: number | undefined }
  cache: ProjectionCache
}

/** Limits of a page besides `PAGE_BYTES`. With `countOnly` its messages are counted but not kept. */
interface PageLimits {
  limit: number
  room?: PageRoom
  countOnly?: boolean
}

const DEFAULT_LIMIT = 100

/** Returns one page as soon as it has a message or the wait time is over. */
export async function pageOf(
  deps: GatewayDeps,
  reply: FastifyReply,
  principal: string,
  request: PageRequest,
): Promise<Page> {
  const { record, query, view, cache } = request
  const room = await PageRoom.enter(deps, reply)
  const page = new PageReader(deps, request, { limit: query.limit ?? DEFAULT_LIMIT, room }, cache)
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
  if (page.empty) await deps.sessions.repair(request.id)
  room.complete()
  return { [view.dialect === mainstem ? 'entries' : 'messages']: page.messages, next: page.next }
}

export class PageReader {
  readonly messages: unknown[] = []
  /** The turns of the messages, each with the last entry that was read. */
  readonly turns = new Map<number, TurnRead>()
  readonly #deps: GatewayDeps
  readonly #reading: Reading
  readonly #projector: Projector
  readonly #limits: PageLimits
  readonly #cache: ProjectionCache
  #seq: number
  #next: string
  #count = 0
  #bytes = 0

  constructor(deps: GatewayDeps, reading: Reading, limits: PageLimits, cache: ProjectionCache) {
    const position = positionBefore(cache, reading)
    this.#deps = deps
    this.#reading = reading
    this.#projector = new Projector(reading.view, position?.state)
    this.#limits = limits
    this.#cache = cache
    this.#seq = position?.seq ?? reading.from
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
    const options = { waitMs: ROOM_WAIT_MS, types: this.#projector.types, ...(signal && { signal }) }
    let position = this.#position()
    await this.#takeFrom(this.#deps.sessions.replay(this.#reading.id, this.#seq, end, options), () => {
      // A full page ends inside this segment, and the next page starts there.
      if (!this.full) position = this.#position()
      return this.full
    })
    if (this.full || this.#seq >= end) this.#keep(position)
  }

  /** Waits until there is a message, the time is over or the client has disconnected. */
  async wait(ms: number, gone: AbortSignal): Promise<void> {
    const over = AbortSignal.any([gone, AbortSignal.timeout(ms)])
    const pieces = this.#deps.sessions.follow(this.#reading.id, this.#seq, over)
    await this.#takeFrom(pieces, () => !this.empty)
  }

  get full(): boolean {
    return this.#count >= this.#limits.limit || this.#bytes >= PAGE_BYTES
  }

  async #takeFrom(pages: AsyncGenerator<readonly Entry[]>, isDone: () => boolean): Promise<void> {
    const { id: session, raw } = this.#reading
    const signal = this.#limits.room?.signal
    const framing = { session, raw, waitMs: ROOM_WAIT_MS, ...(signal && { signal }) }
    const pieces = framedEntries(this.#deps.sessions, framing, pages)
    for (;;) {
      const { value: piece, done } = await pieces.next()
      if (done) return
      this.#take(piece)
      if (!isDone()) continue
      if (this.#limits.room) this.#limits.room.keep(pieces)
      else await pieces.return(undefined)
      return
    }
  }

  #take({ entries, frames }: FramedEntries): void {
    const { view } = this.#reading
    for (const shown of this.#projector.project(entries, frames)) {
      this.#add(shown)
      if (this.full) break
    }
    this.#recordTurns(entries)
    if (this.full) return
    this.#seq = entries.at(-1)?.seq ?? this.#seq
    // A cursor never moves backwards.
    if (this.#seq > view.after.seq) this.#next = `${this.#seq}`
  }

  /** The last entry of a full page may have more messages, so only the entries before it count as read. */
  #recordTurns(entries: readonly Entry[]): void {
    const { seq, part } = parseCursor(this.#next) ?? START
    const end = Number.isFinite(part) ? seq - 1 : seq
    const last = this.full ? end : Number.POSITIVE_INFINITY
    for (const { turn, seq, event } of entries) {
      if (turn === undefined || seq <= lastBefore(this.#reading) || seq > last) continue
      const ended = event.type === 'turn.completed' || this.turns.get(turn)?.ended === true
      this.turns.set(turn, { turn, seq, ended })
    }
  }

  /** Returns the current position, if it is worth caching. */
  #position(): ProjectionState | undefined {
    if (keyOf(this.#reading) === undefined) return undefined
    return copyOf({ seq: this.#seq, state: this.#projector.state })
  }

  #keep(position: ProjectionState | undefined): void {
    this.#cache.keep(keyOf(this.#reading), position)
  }

  #add({ id, message }: StreamMessage): void {
    this.#count++
    this.#next = id
    if (this.#limits.countOnly) return
    this.#bytes += contentSize(message)
    this.messages.push(message)
  }
}

/** Returns the last cached position before the requested messages. */
function positionBefore(cache: ProjectionCache, reading: Reading): ProjectionState | undefined {
  const last = lastBefore(reading)
  return cache.find(keyOf(reading), ({ seq }) => seq <= last)
}

/** Returns the last entry without requested messages. */
function lastBefore({ view: { after } }: Reading): number {
  return Number.isFinite(after.part) ? after.seq - 1 : after.seq
}

function keyOf({ id, view: { dialect, options }, from }: Reading): string | undefined {
  return projectionKey({ id, from, dialect, options })
}
