import { type Frame, jsonFrame } from '../framing/frame.ts'
import type { BlobSink } from '../model/index.ts'
import type { FrameQueue } from './frame-queue.ts'

interface IntakeSetup {
  queue: FrameQueue
  blobs: BlobSink
  /** The field by which an event is known again. */
  idField: string
  /** May stand before an id, which is the same without it. */
  idPrefix: string | undefined
  /** Longer events go into a blob. */
  maxEventBytes: number
  /** The store could not take a blob. */
  fail(thrown: unknown): void
}

const encoder = new TextEncoder()

/** Takes the events of one session from either transport, each once. */
export class RemoteIntake {
  readonly #setup: IntakeSetup
  /** The ids of all events so far, without their prefix. */
  readonly #ids = new Set<string>()
  #taken = 0

  constructor(setup: IntakeSetup) {
    this.#setup = setup
  }

  /** How many events there were so far, which is where to go on. */
  get offset(): number {
    return this.#taken
  }

  get full(): boolean {
    return this.#setup.queue.full
  }

  /** Settles when the reader has caught up, or nothing matters any more. */
  room(signal: AbortSignal): Promise<void> {
    if (!this.full || signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      this.#setup.queue.whenRoom(resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }

  /** What a socket pushes. A message that is no object is shown, but it has no place in the server's list. */
  takeMessage(text: string): void {
    const frame = jsonFrame('sse', text)
    const isEvent = typeof frame.value === 'object' && frame.value !== null
    if (!isEvent || this.#isNew(frame.value)) this.#push([frame])
  }

  /** What a page of the list holds; tells whether any of it was new. */
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
