import { Readable } from 'node:stream'
import type { Entry, SessionRecord } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { problemFrom } from '../http/problem.ts'
import { messageJson } from './format.ts'
import { type FramedEntries, framedEntries } from './framed-entries.ts'
import type { Reading } from './page.ts'
import { Projector } from './projector.ts'
import { SOCKET_ENDS, type SocketEnd, type SocketStream } from './socket-stream.ts'

export interface SocketReading extends Reading {
  /** Returns how to close the socket after the whole session was sent; undefined keeps it open. */
  endOf(record: SessionRecord): SocketEnd | undefined
}

const BATCH = 512

/** Sends the log of a session, replayed and then live, one message per frame, and closes the socket with the reason. */
export async function streamLogToSocket(
  deps: Pick<GatewayDeps, 'sessions' | 'report'>,
  stream: SocketStream,
  reading: SocketReading,
): Promise<void> {
  try {
    stream.close(await new SocketPour(deps, stream, reading).run())
  } catch (thrown) {
    deps.report(thrown)
    const { unwritable, code } = problemFrom(thrown)
    stream.close(unwritable ? { ...SOCKET_ENDS.broken, reason: code } : SOCKET_ENDS.broken)
  }
}

class SocketPour {
  readonly #sessions: GatewayDeps['sessions']
  readonly #stream: SocketStream
  readonly #reading: SocketReading
  readonly #projector: Projector
  #cursor: number
  /** No turn was running at the cursor, so this may be the end: the record shows whether it is. */
  #quiet = true

  constructor({ sessions }: Pick<GatewayDeps, 'sessions'>, stream: SocketStream, reading: SocketReading) {
    this.#sessions = sessions
    this.#stream = stream
    this.#reading = reading
    this.#projector = new Projector(reading.view)
    this.#cursor = reading.from
  }

  async run(): Promise<SocketEnd> {
    const { id } = this.#reading
    const nothing = await this.#end()
    if (nothing) return nothing
    const pages = this.#sessions.follow(id, this.#cursor, this.#stream.signal, this.#projector.types)
    for await (const page of this.#framed(pages)) {
      await this.#send(page)
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
      for await (const page of this.#framed(Readable.from([entries]))) await this.#send(page)
    }
  }

  #framed(pages: AsyncIterable<readonly Entry[]>): AsyncGenerator<FramedEntries> {
    const { id: session, raw } = this.#reading
    return framedEntries(this.#sessions, { session, raw }, pages)
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

  async #send({ entries, frames }: FramedEntries): Promise<void> {
    for (const { message } of this.#projector.project(entries, frames)) {
      await this.#stream.send(messageJson(message))
    }
    for (const { event } of entries) {
      if (event.type === 'turn.completed' || event.type === 'session.ended') this.#quiet = true
      else if (event.type === 'turn.queued' || event.type === 'turn.started') this.#quiet = false
    }
    this.#cursor = entries.at(-1)?.seq ?? this.#cursor
  }
}
