import { type Frame, jsonFrame } from '../framing/frame.ts'
import type { BlobSink } from '../model/index.ts'
import type { FrameQueue } from './frame-queue.ts'

interface IntakeSetup {
  queue: FrameQueue
  blobs: BlobSink
  /** The field that identifies an event, for deduplication. */
  idField: string
  /** An optional prefix of ids; an id with and without it is the same. */
  idPrefix: string | undefined
  /** Events longer than this are stored as a blob. */
  maxEventBytes: number
  /** Reports a blob that the store could not write. */
  fail(thrown: unknown): void
}

const encoder = new TextEncoder()

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
    const frame = jsonFrame('sse', text)
    const isEvent = typeof frame.value === 'object' && frame.value !== null
    if (!isEvent || this.#isNew(frame.value)) this.#push([frame])
  }

  /** Receives a page of the list; returns whether any of its events was new. */
  takePage(events: readonly unknown[]): boolean {
    const fresh = events.filter((event) => this.#isNew(event))
    if (fresh.length > 0) this.#push(fresh.map((event) => jsonFrame('sse', JSON.stringify(event))))
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

  #push(frames: readonly Frame[]): void {
    const { queue, maxEventBytes, fail } = this.#setup
    const bytes = frames.reduce((sum, { text }) => sum + text.length, 0)
    if (frames.every(({ text }) => text.length <= maxEventBytes)) {
      queue.push(frames, bytes)
      return
    }
    const stored = Promise.all(frames.map((frame) => this.#stored(frame)))
    queue.push(
      stored.catch((thrown: unknown) => {
        fail(thrown)
        return []
      }),
      bytes,
    )
  }

  async #stored(frame: Frame): Promise<Frame> {
    if (frame.text.length <= this.#setup.maxEventBytes) return frame
    const writer = this.#setup.blobs.open()
    writer.write(encoder.encode(frame.text))
    return { stream: 'sse', text: '', blob: await writer.close() }
  }
}
