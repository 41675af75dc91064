import { integer, type Row } from '../row.ts'
import type { TableName } from '../tables.ts'
import { type CopyTotals, sizeOf } from './copyable.ts'

/** Counts what was copied or compared, and reports it after each page. */
export class Tally {
  readonly phase: 'copy' | 'verify'
  blobs = 0
  receipts = 0
  #sessions: number
  #entries: number
  #bytes = 0
  readonly #report: (tally: Tally) => void

  constructor(phase: 'copy' | 'verify', { sessions, entries }: CopyTotals, report: (tally: Tally) => void) {
    this.phase = phase
    this.#sessions = sessions
    this.#entries = entries
    this.#report = report
  }

  get progress(): CopyTotals & { phase: 'copy' | 'verify'; bytes: number } {
    return { phase: this.phase, sessions: this.#sessions, entries: this.#entries, bytes: this.#bytes }
  }

  add(table: TableName, rows: readonly Row[]): void {
    if (table === 'session') this.#sessions += rows.length
    if (table === 'blob') this.blobs += rows.length
    if (table === 'receipt') this.receipts += rows.length
    for (const row of rows) {
      if (table === 'log') this.#entries += integer(row, 'last') - integer(row, 'first') + 1
      this.#bytes += sizeOf(row)
    }
    this.#report(this)
  }

  /** The same pieces, counted. */
  async *counted(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      this.#bytes += piece.length
      this.#report(this)
      yield piece
    }
  }
}
