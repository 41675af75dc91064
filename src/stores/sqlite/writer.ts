import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Connection } from './connection.ts'
import {
  checkWritable,
  type Files,
  filesIn,
  prepareBlobs,
  prepareDatabase,
  prepareDirectory,
} from './files.ts'
import { type Lock, takeLock } from './lock.ts'
import type { Commit, StoreChange, ToWriter, WriterSettings } from './message.ts'

const PAGE = 4096
/** Pages in the WAL that trigger a checkpoint: few enough to be quick. */
const CHECKPOINT_PAGES = 1000
const PROBE_BYTES = 64 * 1024

/** Owns the files of the store. Nothing else writes them. */
export class Writer {
  readonly #files: Files
  readonly #settings: WriterSettings
  readonly #lock: Lock
  #connection: Connection | undefined
  /** An estimate of the pages in the WAL. */
  #waiting = 0

  constructor(settings: WriterSettings) {
    this.#settings = settings
    this.#files = filesIn(settings.directory)
    prepareDirectory(this.#files)
    this.#lock = takeLock(this.#files.lock)
    try {
      prepareDatabase(this.#files)
      const opening = this.#lock.isMarked ? 'start' : 'start without a lock'
      this.#connection = new Connection(this.#files, settings, opening)
      this.#lock.mark()
      prepareBlobs(this.#files)
      this.#sweepBlobs(this.#connection)
    } catch (thrown) {
      this.#connection?.close()
      this.#lock[Symbol.dispose]()
      throw thrown
    }
  }

  write(message: ToWriter): void {
    if (message.kind === 'probe') this.#probe(message.writes)
    else if (message.kind === 'close') this.#close()
    else this.#commit(message)
  }

  #commit(message: Commit | StoreChange): void {
    const blobs = this.#do((connection) => connection.write(message))
    // After the commit: an unreferenced file is swept at the next start, but a missing file would be data loss.
    for (const id of blobs) rmSync(join(this.#files.blobs, id), { force: true })
    this.#waiting += pagesOf(message)
  }

  /** With `writes`, writes as much as a usual commit, to a file and to the database. */
  #probe(writes: boolean): void {
    if (!writes) {
      checkWritable(this.#files)
      this.#do((connection) => connection.checkRoom())
      return
    }
    const file = join(this.#files.directory, 'probe')
    try {
      writeFileSync(file, new Uint8Array(PROBE_BYTES), { mode: 0o600 })
    } finally {
      rmSync(file, { force: true })
    }
    this.#do((connection) => connection.probe(PROBE_BYTES))
  }

  /** A failed checkpoint loses nothing; the next commit reports a broken disk. */
  checkpoint(atLeast: number = CHECKPOINT_PAGES): void {
    if (this.#waiting < atLeast) return
    this.#waiting = 0
    try {
      this.#connection?.checkpoint()
    } catch {
      this.#giveUp()
    }
  }

  /** Call when nothing is written for a while. */
  idle(): void {
    this.checkpoint(1)
    this.#connection?.shrink()
  }

  #close(): void {
    this.#connection?.close()
    this.#lock[Symbol.dispose]()
  }

  #do<T>(work: (connection: Connection) => T): T {
    try {
      this.#connection ??= new Connection(this.#files, this.#settings, 'failure')
      return work(this.#connection)
    } catch (thrown) {
      this.#giveUp()
      throw thrown
    }
  }

  #giveUp(): void {
    const connection = this.#connection
    this.#connection = undefined
    connection?.close()
  }

  /** Removes blobs that a crash left without an entry. */
  #sweepBlobs(connection: Connection): void {
    for (const id of readdirSync(this.#files.blobs)) {
      if (!connection.hasBlob(id)) rmSync(join(this.#files.blobs, id), { force: true, recursive: true })
    }
  }
}

/** Estimates the pages of a write: its texts, and one per session. What removes rows may change very many. */
function pagesOf(message: Commit | StoreChange): number {
  if (message.kind === 'access' || message.kind === 'calls') return 2
  if (message.kind !== 'commit') return CHECKPOINT_PAGES
  const { log, journal, records, queued } = message
  const { body: bodies = [] } = log
  const rows = bodies.length + records.length + queued.length
  const texts = [...bodies, ...(journal.text ?? []), ...queued.map(({ body }) => body)]
  return charsIn(texts) / PAGE + rows + 2
}

function charsIn(texts: readonly unknown[]): number {
  let chars = 0
  for (const text of texts) if (typeof text === 'string') chars += text.length
  return chars
}
