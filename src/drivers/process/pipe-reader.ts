import type { Readable } from 'node:stream'
import { type CutterSetup, FrameCutter } from './frame-cutter.ts'
import type { FrameQueue } from './frame-queue.ts'
import type { Output } from './process-run.ts'

/** Reads one pipe of a child, no faster than the queue is consumed. */
export class PipeReader implements Output {
  /** Settles when the pipe has ended. */
  readonly ended: Promise<void>
  bytesRead = 0
  readonly #pipe: Readable
  readonly #queue: FrameQueue
  readonly #cutter: FrameCutter

  constructor(name: 'stdout' | 'stderr', pipe: Readable, setup: CutterSetup) {
    this.#pipe = pipe
    this.#queue = setup.queue
    this.#cutter = new FrameCutter(name, setup)
    this.ended = new Promise((resolve) => {
      pipe.once('end', resolve)
      pipe.once('close', resolve)
    })
    pipe.on('error', (thrown) => setup.fail('connection_failed', thrown))
    pipe.on('data', (chunk: Uint8Array) => this.#read(chunk))
  }

  /** Closes the pipe and emits the remaining text without a newline. */
  async finish(): Promise<void> {
    this.#pipe.destroy()
    await this.#cutter.end()
  }

  #read(chunk: Uint8Array): void {
    this.bytesRead += chunk.length
    this.#cutter.push(chunk)
    // Checked for each chunk, because Node resumes the pipes of a child that exits.
    if (!this.#queue.full) return
    this.#pipe.pause()
    this.#queue.whenRoom(() => this.#pipe.resume())
  }
}
