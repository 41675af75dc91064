import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { mainstem } from '../dialects/mainstem.ts'
import type { SessionRecord } from '../model/index.ts'
import { named } from './components.ts'
import type { Shown } from './format.ts'
import type { GatewayParts } from './parts.ts'
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
}

const DEFAULT_LIMIT = 100
const BATCH = 512

/** One page, as soon as there is something on it or the time is over. */
export async function pageOf(
  parts: GatewayParts,
  reply: FastifyReply,
  principal: string,
  request: PageRequest,
): Promise<Page> {
  const { record, query, view } = request
  const page = new PageReader(parts, request, query.limit ?? DEFAULT_LIMIT)
  await page.read(record.head)
  if (page.empty && query.wait && record.status !== 'ended') {
    const leave = parts.streams.enter(principal)
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
  readonly #parts: GatewayParts
  readonly #reading: Reading
  readonly #projector: Projector
  readonly #limit: number
  #seq: number
  #next: string

  constructor(parts: GatewayParts, reading: Reading, limit: number) {
    this.#parts = parts
    this.#reading = reading
    this.#projector = new Projector(reading.view)
    this.#limit = limit
    this.#seq = reading.from
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
    const { sessions } = this.#parts
    while (this.#seq < head && !this.full) {
      const entries = await sessions.read(this.#reading.id, this.#seq, BATCH)
      if (entries.length === 0) return
      await this.#take(entries)
    }
  }

  /** Until there is a message, the time is over or nobody waits any more. */
  async wait(ms: number, reply: FastifyReply): Promise<void> {
    const gone = new AbortController()
    const leave = () => gone.abort()
    reply.raw.once('close', leave)
    const over = AbortSignal.any([gone.signal, AbortSignal.timeout(ms)])
    try {
      for await (const entries of this.#parts.sessions.follow(this.#reading.id, this.#seq, over)) {
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

  async #take(entries: Awaited<ReturnType<GatewayParts['sessions']['read']>>): Promise<void> {
    const { id, raw, view } = this.#reading
    const frames = raw ? await rawFrames(this.#parts.sessions, id, entries) : undefined
    for (const shown of this.#projector.project(entries, frames)) {
      this.#add(shown)
      if (this.full) return
    }
    this.#seq = entries.at(-1)?.seq ?? this.#seq
    // A reader that is further on already is not sent back.
    if (this.#seq > view.after.seq) this.#next = `${this.#seq}`
  }

  #add({ id, message }: Shown): void {
    this.messages.push(message)
    this.#next = id
  }
}
