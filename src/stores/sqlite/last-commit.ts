import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'

const DIGITS = 16

/**
 * The highest row of the log that was committed, in a file beside the database. SQLite opens a database without its WAL
 * as if nothing had been in it; this file shows that commits are missing.
 */
export class LastCommit implements Disposable {
  readonly #fd: number

  /** Throws if the log ends before the last commit. */
  constructor(path: string, database: string, logTop: number) {
    const last = lastIn(path)
    if (last > logTop) throw missing(path, database, last - logTop)
    this.#fd = openSync(path, last === 0 ? 'w' : 'r+', 0o600)
  }

  /** Not flushed: only a crash of the machine loses it, and it is written after the commit is on disk. */
  write(id: number): void {
    writeSync(this.#fd, `${String(id).padStart(DIGITS, '0')}\n`, 0)
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd)
  }
}

function lastIn(path: string): number {
  try {
    return Number(/^\d{16}$/m.exec(readFileSync(path, 'utf8'))?.[0] ?? 0)
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return 0
    throw thrown
  }
}

function missing(path: string, database: string, count: number): MainstemError {
  const commits = count === 1 ? 'the last commit is' : `the last ${count} commits are`
  return new MainstemError(
    'storage_failed',
    `${commits} missing in ${database}: its -wal file was removed, or an older database was put in its place`,
    { advice: `Put the -wal file back. If you restored a backup, or the file is lost, delete ${path}.` },
  )
}
