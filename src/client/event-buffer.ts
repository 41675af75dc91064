import { AgentError } from './agent-error.ts'
import type { AgentEvent } from './event.ts'
import { systemTimers, type Timers } from './timers.ts'

/** What happens to a source that is faster than its reader. */
export type Overflow = 'wait' | 'fail' | 'dropOldest'

export interface EventBufferOptions {
  /** Events that may wait for the reader; 1,000 unless it is said. */
  maxBufferSize?: number
  /** Milliseconds that events are gathered before they are handed on; 0 hands each on at once. */
  flushInterval?: number
  /** `wait` loses nothing: the source is not read until there is room. */
  overflow?: Overflow
  timers?: Timers
}

/** Stands between a source and a slow reader, and never holds more than it was told. */
export class EventBuffer {
  readonly maxBufferSize: number
  readonly flushInterval: number
  readonly overflow: Overflow
  readonly #timers: Timers
  #dropped = 0

  constructor(options: EventBufferOptions = {}) {
    const { maxBufferSize = 1_000, flushInterval = 0, overflow = 'wait', timers = systemTimers } = options
    if (!Number.isInteger(maxBufferSize) || maxBufferSize < 1)
      throw new RangeError('maxBufferSize is a whole number from 1 on')
    this.maxBufferSize = maxBufferSize
    this.flushInterval = flushInterval
    this.overflow = overflow
    this.#timers = timers
  }

  /** How many events `dropOldest` has dropped. */
  get dropped(): number {
    return this.#dropped
  }

  async *buffer(source: AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent, void, void> {
    for await (const events of this.batches(source)) yield* events
  }

  /** The same, with what came together still together: a page draws once for each. */
  async *batches(source: AsyncIterable<AgentEvent>): AsyncGenerator<readonly AgentEvent[], void, void> {
    const shelf = new Shelf(this.maxBufferSize)
    const left = new AbortController()
    const filling = this.#fill(source, shelf, left.signal)
    // Told when the reader has read what came before it.
    filling.catch((thrown: unknown) => thrown)
    try {
      for (;;) {
        await shelf.whenSome()
        if (this.flushInterval > 0 && !shelf.isClosed && !shelf.isFull)
          await Promise.race([this.#timers.sleep(this.flushInterval, left.signal), shelf.whenFull()])
        const events = shelf.take()
        if (events.length > 0) yield events
        else if (shelf.isClosed) break
      }
      await filling
    } finally {
      left.abort()
      shelf.close()
    }
  }

  async #fill(source: AsyncIterable<AgentEvent>, shelf: Shelf, left: AbortSignal): Promise<void> {
    try {
      for await (const event of source) {
        if (shelf.isFull && this.overflow === 'wait') await shelf.whenRoom()
        if (left.aborted) return
        if (shelf.isFull) this.#overflowed(shelf)
        shelf.add(event)
      }
    } finally {
      shelf.close()
    }
  }

  #overflowed(shelf: Shelf): void {
    if (this.overflow === 'fail')
      throw new AgentError('protocolError', `more than ${this.maxBufferSize} events wait for their reader`)
    shelf.dropOldest()
    this.#dropped++
  }
}

/** The events that wait, and those who wait for a change. */
class Shelf {
  readonly #size: number
  #events: AgentEvent[] = []
  #closed = false
  #changed = Promise.withResolvers<void>()

  constructor(size: number) {
    this.#size = size
  }

  get isFull(): boolean {
    return this.#events.length >= this.#size
  }

  get isClosed(): boolean {
    return this.#closed
  }

  add(event: AgentEvent): void {
    this.#events.push(event)
    this.#tell()
  }

  dropOldest(): void {
    this.#events.shift()
  }

  take(): readonly AgentEvent[] {
    const events = this.#events
    this.#events = []
    this.#tell()
    return events
  }

  close(): void {
    this.#closed = true
    this.#tell()
  }

  async whenSome(): Promise<void> {
    while (this.#events.length === 0 && !this.#closed) await this.#changed.promise
  }

  async whenFull(): Promise<void> {
    while (!this.isFull && !this.#closed) await this.#changed.promise
  }

  async whenRoom(): Promise<void> {
    while (this.isFull && !this.#closed) await this.#changed.promise
  }

  #tell(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}
