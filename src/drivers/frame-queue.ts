import type { Frame } from '../framing/frame.ts'

/** Frames whose blob is not yet closed come as a promise; the order is that of the calls to `push`. */
type Batch = readonly Frame[] | Promise<readonly Frame[]>

/** Hands frames from the pipes of a child to one reader, and holds a bounded number of bytes meanwhile. */
export class FrameQueue implements AsyncIterable<readonly Frame[]> {
  readonly #batches: { frames: Batch; bytes: number }[] = []
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
    this.#batches.push({ frames, bytes })
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
      const batch = this.#batches.shift()
      if (batch) {
        this.#bytes -= batch.bytes
        // Half empty first: the pipes are not switched on and off for every batch.
        if (this.#bytes <= this.#limit / 2) this.#resume()
        const frames = await batch.frames
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

  #resume(): void {
    const paused = this.#paused
    this.#paused = []
    for (const resume of paused) resume()
  }
}
