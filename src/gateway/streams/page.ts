import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { mainstem } from '../../dialects/mainstem.ts'
import type { Entry, SessionRecord } from '../../model/index.ts'
import type { TurnRead } from '../../sessions/delivery.ts'
import type { GatewayDeps } from '../deps.ts'
import { named } from '../http/components.ts'
import { parseCursor, START } from './cursor.ts'
import type { Shown } from './format.ts'
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

const DEFAULT_LIMIT = 100
const BATCH = 512

/** One page, as soon as there is something on it or the time is over. */
export async function pageOf(
  deps: GatewayDeps,
  reply: FastifyReply,
  principal: string,
  request: PageRequest,
): Promise<Page> {
  const { record, query, view, folds } = request
  const page = new PageReader(deps, request, query.limit ?? DEFAULT_LIMIT, folds)
  await page.read(record.head)
  if (page.empty && query.wait && record.status !== 'ended') {
    const leave = deps.streams.enter(principal)
    try {
      await page.wait(query.wait * 1000, reply)
    } finally {
      leave()
    }
  }
  return { [view.dialect === mainstem ? 'entries' : 'messages']: page.messages, next: page.next }
}

export class PageReader {
  readonly messages: unknown[] = []
  /** The turns that the messages are about, each up to the last entry that was read. */
  readonly turns = new Map<number, TurnRead>()
  readonly #deps: GatewayDeps
  readonly #reading: Reading
  readonly #projector: Projector
  readonly #limit: number
  readonly #folds: ProjectionCache
  #seq: number
  #next: string

  constructor(deps: GatewayDeps, reading: Reading, limit: number, folds: ProjectionCache) {
    const place = placeBefore(folds, reading)
    this.#deps = deps
    this.#reading = reading
    this.#projector = new Projector(reading.view, place?.state)
    this.#limit = limit
    this.#folds = folds
    this.#seq = place?.seq ?? reading.from
    const { seq, part } = reading.view.after
    this.#next = Number.isFinite(part) ? `${seq}.${part}` : `${seq}`
  }

  get empty(): boolean {
    return this.messages.length === 0
  }

  get next(): string {
    return this.#next
  }

  async read(head: number): Promise<void> {
    const { sessions } = this.#deps
    const last = lastBefore(this.#reading)
    while (this.#seq < head && !this.full) {
      const before = this.#place()
      const limit = this.#seq < last ? Math.min(BATCH, last - this.#seq) : BATCH
      const entries = await sessions.read(this.#reading.id, this.#seq, limit)
      if (entries.length === 0) return
      await this.#take(entries)
      // The next page begins here or behind, and whoever asks again asks from the same place.
      if (this.full) this.#keep(before)
      else if (this.#seq === last || this.#seq >= head) this.#keep(this.#place())
    }
  }

  /** Until there is a message, the time is over or nobody waits any more. */
  async wait(ms: number, reply: FastifyReply): Promise<void> {
    const gone = new AbortController()
    const leave = () => gone.abort()
    reply.raw.once('close', leave)
    const over = AbortSignal.any([gone.signal, AbortSignal.timeout(ms)])
    try {
      for await (const entries of this.#deps.sessions.follow(this.#reading.id, this.#seq, over)) {
        await this.#take(entries)
        if (!this.empty) return
      }
    } finally {
      reply.raw.off('close', leave)
    }
  }

  get full(): boolean {
    return this.messages.length >= this.#limit
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
    this.messages.push(message)
    this.#next = id
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
