import type { AgentEvent } from '../dialects/unified/unified-event.types.ts'
import { AgentError } from './errors/agent-error.ts'
import { systemTimers, type Timers } from './timers.ts'

/** What to do when the buffer is full: pause the source, fail, or drop the oldest event. */
export type Overflow = 'wait' | 'fail' | 'dropOldest'

/** Options of an `EventBuffer`. */
export interface EventBufferOptions {
  /** The most events in the buffer; 1,000 by default. */
  maxBufferSize?: number
  /** Milliseconds to collect events before they are delivered; 0 delivers each at once. */
  flushInterval?: number
  /** What to do when the buffer is full; `wait` by default, which loses no event. */
  overflow?: Overflow
  /** Replaces the timers in tests. */
  timers?: Timers
}

/** A bounded buffer between a stream of events and a slow consumer. */
export class EventBuffer {
  /** The most events in the buffer. */
  readonly maxBufferSize: number
  /** Milliseconds to collect events before they are delivered. */
  readonly flushInterval: number
  /** What to do when the buffer is full. */
  readonly overflow: Overflow
  readonly #timers: Timers
  #dropped = 0

  constructor(options: EventBufferOptions = {}) {
    const { maxBufferSize = 1_000, flushInterval = 0, overflow = 'wait', timers = systemTimers } = options
    if (!Number.isInteger(maxBufferSize) || maxBufferSize < 1)
      throw new RangeError('maxBufferSize must be a positive integer')
    this.maxBufferSize = maxBufferSize
    this.flushInterval = flushInterval
    this.overflow = overflow
    this.#timers = timers
  }

  /** The number of events that `dropOldest` has dropped. */
  get dropped(): number {
    return this.#dropped
  }

  /** Streams the events of the source through the buffer. */
  async *buffer(source: AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent, void, void> {
    for await (const events of this.batches(source)) yield* events
  }

  /** Like `buffer`, in batches of events that arrived together, so that a page renders once for each batch. */
  async *batches(source: AsyncIterable<AgentEvent>): AsyncGenerator<readonly AgentEvent[], void, void> {
    const queue = new BoundedQueue(this.maxBufferSize)
    const left = new AbortController()
    const filling = this.#fill(source, queue, left.signal)
    // Reported below, after the events before it.
    filling.catch((thrown: unknown) => thrown)
    try {
      for (;;) {
        await queue.whenSome()
        if (this.flushInterval > 0 && !queue.isClosed && !queue.isFull)
          await Promise.race([this.#timers.sleep(this.flushInterval, left.signal), queue.whenFull()])
        const events = queue.take()
        if (events.length > 0) yield events
        else if (queue.isClosed) break
      }
      await filling
    } finally {
      left.abort()
      queue.close()
    }
  }

  async #fill(source: AsyncIterable<AgentEvent>, queue: BoundedQueue, left: AbortSignal): Promise<void> {
    try {
      for await (const event of source) {
        if (queue.isFull && this.overflow === 'wait') await queue.whenRoom()
        if (left.aborted) return
        if (queue.isFull) this.#overflowed(queue)
        queue.add(event)
      }
    } finally {
      queue.close()
    }
  }

  #overflowed(queue: BoundedQueue): void {
    if (this.overflow === 'fail')
      throw new AgentError(
        'protocolError',
        `the consumer is too slow: more than ${this.maxBufferSize} events are buffered`,
      )
    queue.dropOldest()
    this.#dropped++
  }
}

/** Events in the buffer, with promises for its changes. */
class BoundedQueue {
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
    this.#notify()
  }

  dropOldest(): void {
    this.#events.shift()
  }

  take(): readonly AgentEvent[] {
    const events = this.#events
    this.#events = []
    this.#notify()
    return events
  }

  close(): void {
    this.#closed = true
    this.#notify()
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

  #notify(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}
