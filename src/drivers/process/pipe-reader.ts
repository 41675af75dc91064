import type { Readable } from 'node:stream'
import { type Frame, jsonFrame } from '../../framing/frame.ts'
import { LargeFrame } from '../../framing/large-frame.ts'
import { type LinePiece, LineSplitter } from '../../framing/lines.ts'
import type { ValueSink } from '../../model/text/large-value.ts'
import type { FrameQueue } from './frame-queue.ts'

export interface PipeSetup {
  queue: FrameQueue
  values: ValueSink
  maxLineBytes: number | undefined
  /** Reports a broken pipe or a blob that the store could not write. */
  fail(code: 'connection_failed' | 'storage_failed', thrown: unknown): void
}

/** Reads one pipe of a child into frames (bytes → lines → frames), no faster than the queue is consumed. */
export class PipeReader {
  /** Settles when the pipe has ended. */
  readonly ended: Promise<void>
  /** The number of bytes read so far; it stays constant while the pipe is quiet. */
  bytesRead = 0
  readonly #name: 'stdout' | 'stderr'
  readonly #pipe: Readable
  readonly #setup: PipeSetup
  readonly #splitter: LineSplitter
  #blobsClosed: Promise<unknown> = Promise.resolve()
  #failed = false
  /** The current line, if it exceeds the size limit. */
  #large: LargeFrame | undefined

  constructor(name: 'stdout' | 'stderr', pipe: Readable, setup: PipeSetup) {
    this.#name = name
    this.#pipe = pipe
    this.#setup = setup
    this.#splitter = new LineSplitter(setup.maxLineBytes)
    this.ended = new Promise((resolve) => {
      pipe.once('end', resolve)
      pipe.once('close', resolve)
    })
    pipe.on('error', (thrown) => this.#fail('connection_failed', thrown))
    pipe.on('data', (chunk: Uint8Array) => this.#read(chunk))
  }

  /** Closes the pipe and emits the remaining text without a newline. */
  async finish(): Promise<void> {
    this.#pipe.destroy()
    this.#take(this.#splitter.end(), 0)
    await this.#blobsClosed
  }

  #read(chunk: Uint8Array): void {
    this.bytesRead += chunk.length
    this.#take(this.#splitter.push(chunk), chunk.length)
    // Checked for each chunk, because Node resumes the pipes of a child that exits.
    if (!this.#setup.queue.full) return
    this.#pipe.pause()
    this.#setup.queue.whenRoom(() => this.#pipe.resume())
  }

  #take(pieces: readonly LinePiece[], bytes: number): void {
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
    this.#setup.queue.push(closing ? this.#blobsClosed.then(shown) : shown(), bytes)
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
