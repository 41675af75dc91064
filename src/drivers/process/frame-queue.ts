import type { Frame } from '../../framing/frame.ts'
import type { OutputPosition } from '../driver.ts'

/**
 * A batch is a promise while one of its blobs is still being written. Batches keep the order of the calls to `push`.
 */
type FrameBatch = readonly Frame[] | Promise<readonly Frame[]>

/** The new position of one output. */
export type ReadMark = Partial<OutputPosition>

interface QueuedFrames {
  frames: FrameBatch
  bytes: number
  mark: ReadMark | undefined
}

/** A batch takes at most a quarter of the limit, so that the pipes are read while the consumer processes it. */
const BATCH_PART = 4

/** Queues frames from the pipes of a child for one consumer, bounded in bytes. */
export class FrameQueue implements AsyncIterable<readonly Frame[]> {
  readonly #waiting: QueuedFrames[] = []
  /** The position after the frames that the consumer has. */
  readonly position: OutputPosition
  #limit: number
  #bytes = 0
  #closed = false
  #wakeReader: (() => void) | undefined
  #paused: (() => void)[] = []

  constructor(limitBytes: number, position: OutputPosition = { stdout: 0, stderr: 0 }) {
    this.#limit = limitBytes
    this.position = { ...position }
  }

  get full(): boolean {
    return this.#bytes >= this.#limit
  }

  /** `bytes` is the number of bytes read for the batch, including incomplete lines and parts of blobs. */
  push(frames: FrameBatch, bytes: number, mark?: ReadMark): void {
    this.#waiting.push({ frames, bytes, mark })
    this.#bytes += bytes
    this.#wakeReader?.()
  }

  /** Calls `resume` once, when the queue has room again. */
  whenRoom(resume: () => void): void {
    this.#paused.push(resume)
  }

  /** Raises the limit for the data that remains in pipes without a writer. */
  widen(bytes: number): void {
    this.#limit += bytes
    this.#resume()
  }

  /** Ends the queue; queued frames can still be read. */
  close(): void {
    this.#closed = true
    this.#wakeReader?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly Frame[], void, undefined> {
    for (;;) {
      const batches = this.#take()
      if (batches.length > 0) {
        const [first = [], ...more] = await Promise.all(batches.map(({ frames }) => frames))
        const frames = more.length === 0 ? first : [first, ...more].flat()
        for (const { mark } of batches) if (mark) Object.assign(this.position, mark)
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
   * Merges the queued batches into one, so that a consumer that commits each batch pays for one commit, not one per
   * chunk.
   */
  #take(): QueuedFrames[] {
    const batches: QueuedFrames[] = []
    let bytes = 0
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      bytes += next.bytes
      if (batches.length > 0 && bytes > this.#limit / BATCH_PART) break
      batches.push(next)
      this.#bytes -= next.bytes
      this.#waiting.shift()
    }
    // Resumes only when half empty, so that the pipes do not pause and resume for every batch.
    if (batches.length > 0 && this.#bytes <= this.#limit / 2) this.#resume()
    return batches
  }

  #resume(): void {
    const paused = this.#paused
    this.#paused = []
    for (const resume of paused) resume()
  }
}
