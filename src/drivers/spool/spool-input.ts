import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { codeOf } from '../../model/outcome/mainstem-error.ts'
import { NOTHING_WRITTEN, type WriteState } from '../driver.ts'
import type { SpoolFolder } from './spool-folder.ts'

/** How long a full pipe, or an agent that has not opened it yet, is left alone. */
const RETRY_MS = 2
const LONGEST_RETRY_MS = 50

/** So much is written as a whole or not at all. */
const WHOLE_BYTES = process.platform === 'linux' ? 4096 : 512

const NUMBERS = 3

/** How a write is recorded before it is made. Earlier versions record every one as one that may be torn. */
const TORN = 1
const WHOLE = 2

/**
 * Writes to the FIFO of an agent, and records each write before and after it is made. A later process therefore knows
 * which of the writes in the journal the agent has, and repeats none of them.
 */
export class SpoolInput {
  readonly #folder: SpoolFolder
  readonly #isOver: () => boolean
  readonly #record: number
  #pipe: number | undefined
  #state: WriteState
  #isClosed = false
  #last: Promise<void> = Promise.resolve()

  /** `hasExited` returns true once nobody will read. */
  constructor(folder: SpoolFolder, hasExited: () => boolean) {
    this.#folder = folder
    this.#isOver = () => this.#isClosed || hasExited()
    this.#state = writeStateIn(folder)
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW
    this.#record = openSync(folder.file('written'), flags, 0o600)
  }

  write(text: string): Promise<void> {
    return this.#inTurn(() => this.#write(Buffer.from(text)))
  }

  /** Counts a write that is not made. */
  skip(): Promise<void> {
    return this.#inTurn(async () => this.#completed())
  }

  /** Settles when no write is in progress. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#last
    if (this.#pipe !== undefined) closeSync(this.#pipe)
    this.#pipe = undefined
    closeSync(this.#record)
  }

  #inTurn(step: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(() => (this.#isClosed ? undefined : step()))
    return this.#last
  }

  async #write(bytes: Buffer): Promise<void> {
    const pipe = await this.#open()
    if (pipe === undefined) return
    for (let pause = RETRY_MS; this.#state.bytes < bytes.length; ) {
      if (this.#isOver()) return
      const { bytes: from } = this.#state
      const left = bytes.subarray(from)
      this.#keep({ ...this.#state, doubtful: 1, isTorn: from > 0 || left.length > WHOLE_BYTES })
      const count = writeSome(pipe, left)
      this.#keep({ ...this.#state, bytes: from + Math.max(0, count), doubtful: 0, isTorn: false })
      // The agent closed its input, and will never read the rest.
      if (count < 0) break
      if (count > 0) pause = RETRY_MS
      else {
        await setTimeout(pause)
        pause = Math.min(2 * pause, LONGEST_RETRY_MS)
      }
    }
    this.#completed()
  }

  #completed(): void {
    this.#keep({ done: this.#state.done + 1, bytes: 0, doubtful: 0 })
  }

  /** Waits until the launcher holds the other end: bytes in a pipe that nobody holds would be lost. */
  async #open(): Promise<number | undefined> {
    for (let pause = RETRY_MS; this.#pipe === undefined; pause = Math.min(2 * pause, LONGEST_RETRY_MS)) {
      this.#pipe = openFifo(this.#folder.file('in'))
      if (this.#pipe !== undefined) break
      if (this.#isOver()) return undefined
      await setTimeout(pause)
    }
    return this.#pipe
  }

  #keep(state: WriteState): void {
    this.#state = state
    const doubt = state.doubtful === 0 ? 0 : state.isTorn ? TORN : WHOLE
    const numbers = new Float64Array([state.done, state.bytes, doubt])
    writeSync(this.#record, new Uint8Array(numbers.buffer), 0, undefined, 0)
  }
}

/** What an earlier process wrote to a run. */
export function writeStateIn(folder: SpoolFolder): WriteState {
  try {
    const record = new Uint8Array(readFileSync(folder.file('written')))
    if (record.length !== NUMBERS * Float64Array.BYTES_PER_ELEMENT) return NOTHING_WRITTEN
    const [done = 0, bytes = 0, doubt = 0] = new Float64Array(record.buffer)
    return { done, bytes, doubtful: doubt === 0 ? 0 : 1, isTorn: doubt === TORN }
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return NOTHING_WRITTEN
    throw thrown
  }
}

/** Undefined while nobody reads from it. */
function openFifo(path: string): number | undefined {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch (thrown) {
    const code = codeOf(thrown)
    if (code === 'ENXIO' || code === 'ENOENT') return undefined
    throw thrown
  }
}

/** Returns 0 for a full pipe, and -1 for one that nobody reads. */
function writeSome(pipe: number, bytes: Uint8Array): number {
  try {
    return writeSync(pipe, bytes)
  } catch (thrown) {
    const code = codeOf(thrown)
    if (code === 'EAGAIN') return 0
    if (code === 'EPIPE') return -1
    throw thrown
  }
}
