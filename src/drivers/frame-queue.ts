import type { Frame } from '../framing/frame.ts'

/** Frames whose blob is not yet closed come as a promise; the order is that of the calls to `push`. */
type Batch = readonly Frame[] | Promise<readonly Frame[]>

interface Waiting {
  frames: Batch
  bytes: number
  /** The same frames, where they are of several batches and in a list of our own. */
  gathered?: Frame[]
}

/** How much of the queue is handed out at once, when it has gathered in small pieces. */
const GATHERED_PART = 4

/** Hands frames from the pipes of a child to one reader, and holds a bounded number of bytes meanwhile. */
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
    if (!this.#gather(frames, bytes)) this.#waiting.push({ frames, bytes })
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
      const next = this.#waiting.shift()
      if (next) {
        this.#bytes -= next.bytes
        // Half empty first: the pipes are not switched on and off for every batch.
        if (this.#bytes <= this.#limit / 2) this.#resume()
        const frames = await next.frames
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

  /**
   * What comes while the reader is busy joins what waits already: one that falls behind then catches up, instead of
   * paying for each batch. No more than a part of the queue at once, so that the pipes go on meanwhile.
   */
  #gather(frames: Batch, bytes: number): boolean {
    const last = this.#waiting.at(-1)
    if (!last || last.frames instanceof Promise || frames instanceof Promise) return false
    if (last.bytes + bytes > this.#limit / GATHERED_PART) return false
    last.gathered ??= [...last.frames]
    for (const frame of frames) last.gathered.push(frame)
    last.frames = last.gathered
    last.bytes += bytes
    return true
  }

  #resume(): void {
    const paused = this.#paused
    this.#paused = []
    for (const resume of paused) resume()
  }
}
