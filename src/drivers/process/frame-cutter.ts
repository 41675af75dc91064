import { type Frame, jsonFrame } from '../../framing/frame.ts'
import { LargeFrame } from '../../framing/large-frame.ts'
import { type LinePiece, LineSplitter } from '../../framing/lines.ts'
import type { ValueSink } from '../../model/text/large-value.ts'
import type { FrameQueue, ReadMark } from './frame-queue.ts'

export interface CutterSetup {
  queue: FrameQueue
  values: ValueSink
  maxLineBytes: number | undefined
  /** Reports a broken pipe or a blob that the store could not write. */
  fail(code: 'connection_failed' | 'storage_failed', thrown: unknown): void
}

/** Cuts the bytes of one output into frames (bytes → lines → frames) and queues them. */
export class FrameCutter {
  readonly #name: 'stdout' | 'stderr'
  readonly #setup: CutterSetup
  readonly #splitter: LineSplitter
  #blobsClosed: Promise<unknown> = Promise.resolve()
  #failed = false
  /** The current line, if it exceeds the size limit. */
  #large: LargeFrame | undefined

  constructor(name: 'stdout' | 'stderr', setup: CutterSetup) {
    this.#name = name
    this.#setup = setup
    this.#splitter = new LineSplitter(setup.maxLineBytes)
  }

  /** `mark` says how far the output was read, in complete lines, once these frames were taken from the queue. */
  push(chunk: Uint8Array, mark?: ReadMark): void {
    this.#take(this.#splitter.push(chunk), chunk.length, mark)
  }

  /** Emits the remaining text without a newline. Settles when its blobs are stored. */
  async end(mark?: ReadMark): Promise<void> {
    this.#take(this.#splitter.end(), 0, mark)
    await this.#blobsClosed
  }

  #take(pieces: readonly LinePiece[], bytes: number, mark: ReadMark | undefined): void {
    const frames: Frame[] = []
    let closing: Promise<void>[] | undefined
    for (const piece of pieces) {
      if (typeof piece === 'string') {
        frames.push(this.#frameOf(piece))
      } else {
        this.#writeLarge(piece.oversized)
        if (!piece.last) continue
        closing ??= []
        closing.push(this.#closeLarge(frames, frames.length))
        frames.push({ stream: this.#name, text: '' })
      }
    }
    // Emits no frames after a failure, because the output would look complete.
    const shown = () => (this.#failed ? [] : frames)
    if (closing) this.#blobsClosed = Promise.all([this.#blobsClosed, ...closing])
    this.#setup.queue.push(closing ? this.#blobsClosed.then(shown) : shown(), bytes, mark)
  }

  /** Every agent writes plain text to standard error. */
  #frameOf(text: string): Frame {
    return this.#name === 'stdout' ? jsonFrame('stdout', text) : { stream: 'stderr', text }
  }

  #writeLarge(bytes: Uint8Array): void {
    try {
      const { values, maxLineBytes } = this.#setup
      this.#large ??= new LargeFrame(this.#name, values, maxLineBytes)
      if (bytes.length > 0) this.#large.write(bytes)
    } catch (thrown) {
      this.#fail('storage_failed', thrown)
    }
  }

  /** Reserves the position of the frame immediately and fills it when its blobs are stored; later frames wait for it. */
  async #closeLarge(frames: Frame[], at: number): Promise<void> {
    const large = this.#large
    this.#large = undefined
    try {
      if (large) frames[at] = await large.close()
    } catch (thrown) {
      this.#fail('storage_failed', thrown)
    }
  }

  #fail(code: 'connection_failed' | 'storage_failed', thrown: unknown): void {
    this.#failed = true
    this.#setup.fail(code, thrown)
  }
}
