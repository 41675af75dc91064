import { Readable } from 'node:stream'
import type { Entry, SessionRecord } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { problemFrom } from '../http/problem.ts'
import { answeredWith } from '../http/request-scope.ts'
import { messageBytes, messageJson, type StreamMessage } from './format.ts'
import { framedEntries } from './framed-entries.ts'
import type { Reading } from './page.ts'
import { Projector } from './projector.ts'
import { SOCKET_ENDS, type SocketEnd, type SocketStream } from './socket-stream.ts'
import { timeOf } from './stream-log.ts'

export interface SocketReading extends Reading {
  /** Returns how to close the socket after the whole session was sent; undefined keeps it open. */
  endOf(record: SessionRecord): SocketEnd | undefined
}

const BATCH = 512

/** The messages of entries that follow each other. */
interface Segment {
  messages: Iterable<string | Uint8Array>
  /** The last entry, and its time. */
  last: number
  at: number | undefined
  /** Whether no turn runs after them; undefined if they do not say. */
  isQuiet: boolean | undefined
}

/** Sends the log of a session, replayed and then live, one message per frame, and closes the socket with the reason. */
export async function streamLogToSocket(
  deps: Pick<GatewayDeps, 'sessions' | 'report' | 'stats'>,
  stream: SocketStream,
  reading: SocketReading,
): Promise<void> {
  try {
    stream.close(await new SocketPour(deps, stream, reading).run())
  } catch (thrown) {
    deps.report(thrown)
    const { unwritable, code } = answeredWith(problemFrom(thrown))
    stream.close(unwritable ? { ...SOCKET_ENDS.broken, reason: code } : SOCKET_ENDS.broken)
  }
}

class SocketPour {
  readonly #sessions: GatewayDeps['sessions']
  readonly #stream: SocketStream
  readonly #reading: SocketReading
  readonly #projector: Projector
  readonly #delivered: (at: number | undefined) => void
  #cursor: number
  /** No turn was running at the cursor, so this may be the end: the record shows whether it is. */
  #quiet = true

  constructor(
    { sessions, stats }: Pick<GatewayDeps, 'sessions' | 'stats'>,
    stream: SocketStream,
    reading: SocketReading,
  ) {
    this.#sessions = sessions
    this.#delivered = stats.delivery()
    this.#stream = stream
    this.#reading = reading
    this.#projector = new Projector(reading.view)
    this.#cursor = reading.from
  }

  async run(): Promise<SocketEnd> {
    const nothing = await this.#end()
    if (nothing) return nothing
    for await (const segment of this.#segments()) {
      await this.#send(segment)
      // Reads the record first: it has the outcome of the last turn, however many commits this segment has.
      const end = this.#quiet ? await this.#end() : undefined
      if (end) return end
      if (this.#projector.finished) return SOCKET_ENDS.ended
    }
    if (!this.#stream.stopping) return (await this.#end()) ?? SOCKET_ENDS.deleted
    return this.#drain()
  }

  /** A stopping server has settled every turn, so the log is complete. */
  async #drain(): Promise<SocketEnd> {
    for (;;) {
      const entries = await this.#sessions.read(this.#reading.id, this.#cursor, BATCH)
      if (entries.length === 0) return (await this.#end()) ?? SOCKET_ENDS.stopping
      for await (const segment of this.#projected(Readable.from([entries]))) await this.#send(segment)
    }
  }

  #segments(): AsyncIterable<Segment> {
    const { signal } = this.#stream
    if (this.#projector.isVerbatim) return this.#stored(signal)
    return this.#projected(
      this.#sessions.follow(this.#reading.id, this.#cursor, signal, this.#projector.types),
    )
  }

  /** The stored text of the log, whose bytes all subscribers share. */
  async *#stored(signal: AbortSignal): AsyncGenerator<Segment> {
    for await (const texts of this.#sessions.followTexts(this.#reading.id, this.#cursor, signal)) {
      const { messages, isQuiet } = storedSegment(texts)
      yield { messages, last: this.#cursor + texts.length, isQuiet, at: timeOf(texts.at(-1) ?? '') }
    }
  }

  async *#projected(pages: AsyncIterable<readonly Entry[]>): AsyncGenerator<Segment> {
    const { id: session, raw } = this.#reading
    for await (const { entries, frames } of framedEntries(this.#sessions, { session, raw }, pages)) {
      const messages = jsonOf(this.#projector.project(entries, frames))
      const { seq: last = this.#cursor, at } = entries.at(-1) ?? {}
      yield { messages, last, at, isQuiet: quietAfter(entries) }
    }
  }

  async #end(): Promise<SocketEnd | undefined> {
    const { id, endOf } = this.#reading
    const record = await this.#sessions.record(id)
    if (!record) return SOCKET_ENDS.deleted
    const end = endOf(record)
    this.#quiet = end !== undefined
    if (this.#cursor < record.head) return undefined
    if (record.failure) await this.#sessions.repair(id)
    return end
  }

  async #send({ messages, last, isQuiet, at }: Segment): Promise<void> {
    await this.#stream.sendAll(messages)
    this.#delivered(at)
    this.#quiet = isQuiet ?? this.#quiet
    this.#cursor = last
  }
}

function* jsonOf(shown: Iterable<StreamMessage>): Generator<string> {
  for (const { message } of shown) yield messageJson(message)
}

function quietAfter(entries: readonly Entry[]): boolean | undefined {
  let isQuiet: boolean | undefined
  for (const { event } of entries) {
    if (event.type === 'turn.completed' || event.type === 'session.ended') isQuiet = true
    else if (event.type === 'turn.queued' || event.type === 'turn.started') isQuiet = false
  }
  return isQuiet
}

/** Subscribers at the same place read the same list of texts. */
const stored = new WeakMap<readonly string[], Pick<Segment, 'messages' | 'isQuiet'>>()

function storedSegment(texts: readonly string[]): Pick<Segment, 'messages' | 'isQuiet'> {
  const known = stored.get(texts)
  if (known) return known
  // Few entries are parsed: those that may begin or end a turn.
  const notable = texts.filter((text) => text.includes('"turn.') || text.includes('"session.ended"'))
  const segment = {
    messages: texts.map(messageBytes),
    isQuiet: quietAfter(notable.map((text): Entry => JSON.parse(text))),
  }
  stored.set(texts, segment)
  return segment
}
