import type { Frame } from '../../framing/frame.ts'
import { frameOf } from '../../framing/large-frame.ts'
import { tryJson } from '../../model/text/json.ts'
import type { ValueSink } from '../../model/text/large-value.ts'
import type { FrameQueue } from '../process/frame-queue.ts'

interface IntakeSetup {
  queue: FrameQueue
  values: ValueSink
  /** The field that identifies an event, for deduplication. */
  idField: string
  /** An optional prefix of ids; an id with and without it is the same. */
  idPrefix: string | undefined
  /** The large values of longer events are stored as blobs. */
  maxEventBytes: number
  /** Reports a blob that the store could not write. */
  fail(thrown: unknown): void
}

/** Receives the events of one session from the socket and from pages, and deduplicates them. */
export class RemoteIntake {
  readonly #setup: IntakeSetup
  /** The ids of all events received so far, without their prefix. */
  readonly #ids = new Set<string>()
  #taken = 0

  constructor(setup: IntakeSetup) {
    this.#setup = setup
  }

  /** The number of events received so far, which is the offset of the next page. */
  get offset(): number {
    return this.#taken
  }

  get full(): boolean {
    return this.#setup.queue.full
  }

  /** Settles when the consumer has caught up or the signal aborts. */
  room(signal: AbortSignal): Promise<void> {
    if (!this.full || signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      this.#setup.queue.whenRoom(resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }

  /**
   * Receives a message from the socket. A message that is not an object is emitted, but does not count towards the
   * offset of the server's list.
   */
  takeMessage(text: string): void {
    const value = tryJson(text)
    const isEvent = typeof value === 'object' && value !== null
    if (!isEvent || this.#isNew(value)) this.#push([text])
  }

  /** Receives a page of the list; returns whether any of its events was new. */
  takePage(events: readonly unknown[]): boolean {
    const fresh = events.filter((event) => this.#isNew(event))
    if (fresh.length > 0) this.#push(fresh.map((event) => JSON.stringify(event)))
    return fresh.length > 0
  }

  #isNew(event: unknown): boolean {
    const id: unknown =
      typeof event === 'object' && event !== null ? Reflect.get(event, this.#setup.idField) : undefined
    if (typeof id === 'string') {
      const bare = this.#withoutPrefix(id)
      if (this.#ids.has(bare)) return false
      this.#ids.add(bare)
    }
    this.#taken++
    return true
  }

  #withoutPrefix(id: string): string {
    const { idPrefix = '' } = this.#setup
    return id.startsWith(idPrefix) ? id.slice(idPrefix.length) : id
  }

  #push(texts: readonly string[]): void {
    const { queue, values, maxEventBytes, fail } = this.#setup
    const bytes = texts.reduce((sum, text) => sum + text.length, 0)
    const frames = texts.map((text) => frameOf('sse', text, values, maxEventBytes))
    if (frames.every((frame): frame is Frame => !(frame instanceof Promise))) {
      queue.push(frames, bytes)
      return
    }
    const stored = Promise.all(frames).catch((thrown: unknown) => {
      fail(thrown)
      return []
    })
    queue.push(stored, bytes)
  }
}
