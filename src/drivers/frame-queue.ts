import type { Frame } from '../framing/frame.ts'

/** Frames whose blob is not yet closed come as a promise; the order is that of the calls to `push`. */
type Batch = readonly Frame[] | Promise<readonly Frame[]>

interface Waiting {
  frames: Batch
  bytes: number
}

/** The part of the limit that one batch may have, so that the pipes are read while the reader works on it. */
const BATCH_PART = 4

/** Queues frames from the pipes of a child for one reader, up to a number of bytes. */
export class FrameQueue implements AsyncIterable<readonly Frame[]> {
  readonly #waiting: Waiting[] = []
  #limit: number
  #bytes = 0
  #closed = false
  #wakeReader: (() => void) | undefined
  #paused: (() => void)[] = []

  constructor(limitBytes: number) {
    this.#limit = limitBytes
  }

  get full(): boolean {
    return this.#bytes >= this.#limit
  }

  /** `bytes` are those read for the batch, so that half a line, or a part of a blob, counts as well. */
  push(frames: Batch, bytes: number): void {
    this.#waiting.push({ frames, bytes })
    this.#bytes += bytes
    this.#wakeReader?.()
  }

  /** Calls back once, when there is room again. */
  whenRoom(resume: () => void): void {
    this.#paused.push(resume)
  }

  /** Makes room for what is left in pipes that nobody writes to any more. */
  widen(bytes: number): void {
    this.#limit += bytes
    this.#resume()
  }

  /** Nothing more will come; what is queued can still be read. */
  close(): void {
    this.#closed = true
    this.#wakeReader?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly Frame[], void, undefined> {
    for (;;) {
      const batches = this.#take()
      if (batches.length > 0) {
        const [first = [], ...more] = await Promise.all(batches)
        const frames = more.length === 0 ? first : [first, ...more].flat()
        if (frames.length > 0) yield frames
      } else if (this.#closed) {
        return
      } else {
        await new Promise<void>((resolve) => {
          this.#wakeReader = resolve
        })
      }
    }
  }

  /** Takes what waits as one batch: a reader that commits each batch pays for one commit, not for one per chunk. */
  #take(): Batch[] {
    const batches: Batch[] = []
    let bytes = 0
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      bytes += next.bytes
      if (batches.length > 0 && bytes > this.#limit / BATCH_PART) break
      batches.push(next.frames)
      this.#bytes -= next.bytes
      this.#waiting.shift()
    }
    // Not before it is half empty, so that the pipes do not pause and resume for every batch.
    if (batches.length > 0 && this.#bytes <= this.#limit / 2) this.#resume()
    return batches
  }

  #resume(): void {
    const paused = this.#paused
    this.#paused = []
    for (const resume of paused) resume()
  }
}
