import { execFile } from 'node:child_process'
import { closeSync, fstatSync, readSync } from 'node:fs'
import { MainstemError } from '../../model/index.ts'
import { type CutterSetup, FrameCutter } from '../process/frame-cutter.ts'
import type { Output } from '../process/process-run.ts'
import type { OpenFile } from '../tree/process-table.ts'
import { SPOOL_FILES, type SpoolFolder, type SpoolOutput } from './spool-folder.ts'

const CHUNK_BYTES = 256 * 1024

/** Reads this much at most without a pause for other work. */
const SLICE_BYTES = 1024 * 1024

/** The space of so many consumed bytes is given back in one go. */
const FREED_BYTES = 8 * 1024 * 1024

const LF = 0x0a

/** Every read goes here first: how much there is shows only then, and a short line must not keep a large buffer. */
const page = Buffer.allocUnsafe(CHUNK_BYTES)

/** Reads a file to which an agent appends, no faster than the queue is consumed. */
export class FileTail implements Output {
  readonly ended: Promise<void>
  bytesRead = 0
  readonly #stream: SpoolOutput
  readonly #path: string
  readonly #opened: number
  readonly #setup: CutterSetup
  readonly #cutter: FrameCutter
  readonly #ended = Promise.withResolvers<void>()
  readonly #closed = Promise.withResolvers<void>()
  /** Where the next read begins. */
  #at: number
  /** Where the current line begins. */
  #lineAt: number
  #freedTo = 0
  /** The rest of what the file has, after other work. */
  #rest: NodeJS.Immediate | undefined
  /** Waits for room in the queue. */
  #isPaused = false
  #isClosed = false
  /** The process has exited or closed the file: what it has now is all. */
  #isLast = false

  constructor(stream: SpoolOutput, folder: SpoolFolder, from: number, setup: CutterSetup) {
    this.#stream = stream
    this.#setup = setup
    this.#path = folder.file(SPOOL_FILES[stream])
    this.#opened = folder.openOutput(stream, from)
    this.#cutter = new FrameCutter(stream, setup)
    this.#at = from
    this.#lineAt = from
    this.ended = this.#ended.promise
  }

  /** How many bytes wait to be read. */
  get backlog(): number {
    return this.#size() - this.#at
  }

  /** Call when the file may have grown. The system reports several writes as one while it waits for us to read. */
  wake(): void {
    if (!this.#isClosed && !this.#isPaused && !this.#rest) this.#read()
  }

  /** Call when the process has exited or has closed the file. */
  last(): void {
    this.#isLast = true
    this.wake()
  }

  /** Reads what the file has now, no faster than the queue is consumed: after an outage it may be large. */
  async finish(): Promise<void> {
    try {
      // Bounded by the size, because a process that could not be ended may write for ever.
      for (const size = this.#size(); !this.#isClosed && this.#at < size; ) {
        if (this.#setup.queue.full) await Promise.race([this.#room(), this.#closed.promise])
        else this.#readOnce(size - this.#at)
      }
    } catch (thrown) {
      this.leave()
      this.#setup.fail('storage_failed', thrown)
    }
    if (this.#isClosed) return
    this.leave()
    await this.#cutter.end({ [this.#stream]: this.#at })
  }

  /** Stops reading and leaves the rest in the file. */
  leave(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearImmediate(this.#rest)
    closeSync(this.#opened)
    this.#ended.resolve()
    this.#closed.resolve()
  }

  get file(): OpenFile {
    const { dev, ino } = fstatSync(this.#opened)
    return { name: SPOOL_FILES[this.#stream], dev, ino }
  }

  /** Gives back the space that the bytes before this position take. */
  release(position: number): void {
    const length = position - this.#freedTo
    if (length < FREED_BYTES) return
    const range = ['--punch-hole', '--offset', String(this.#freedTo), '--length', String(length)]
    this.#freedTo = position
    // A file system without holes keeps the space until the run has ended.
    execFile('fallocate', [...range, this.#path], () => undefined)
  }

  #read(): void {
    if (this.#isClosed) return
    try {
      for (let slice = 0; slice < SLICE_BYTES; ) {
        if (this.#setup.queue.full) {
          this.#pause()
          return
        }
        const count = this.#readOnce(CHUNK_BYTES)
        slice += count
        if (count === CHUNK_BYTES) continue
        // This was the end, and what is written later is reported.
        if (this.#isLast) this.#ended.resolve()
        return
      }
      this.#rest = setImmediate(() => {
        this.#rest = undefined
        this.#read()
      })
    } catch (thrown) {
      this.leave()
      this.#setup.fail('storage_failed', thrown)
    }
  }

  #pause(): void {
    this.#isPaused = true
    void this.#room().then(() => {
      this.#isPaused = false
      this.#read()
    })
  }

  #room(): Promise<void> {
    return new Promise((resolve) => this.#setup.queue.whenRoom(resolve))
  }

  #readOnce(most: number): number {
    const count = readSync(this.#opened, page, 0, Math.min(most, CHUNK_BYTES), this.#at)
    if (count === 0) {
      if (this.#size() < this.#at)
        throw new MainstemError('storage_failed', `the output of the agent in ${this.#path} was cut short`)
      return 0
    }
    const bytes = Buffer.from(page.subarray(0, count))
    const newline = bytes.lastIndexOf(LF)
    if (newline >= 0) this.#lineAt = this.#at + newline + 1
    this.#at += count
    this.bytesRead += count
    this.#cutter.push(bytes, { [this.#stream]: this.#lineAt })
    return count
  }

  #size(): number {
    return this.#isClosed ? this.#at : fstatSync(this.#opened).size
  }
}
