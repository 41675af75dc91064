import { randomUUID } from 'node:crypto'
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { type BlobRef, type BlobSink, type BlobWriter, MainstemError } from '../../model/index.ts'
import type { ByteRange } from '../../model/text/byte-range.ts'
import { checksum, matches } from '../checksum.ts'
import { damaged, storageFailed } from '../refusals.ts'
import { bytes, integer } from '../row.ts'
import { sumOf } from '../tables.ts'
import { fromColumn, toColumn } from './columns.ts'
import type { Database, Reads } from './database.ts'
import { SUMS } from './table-rows.ts'

const PART_BYTES = 1024 * 1024

const ADD_PART =
  'INSERT INTO @blob_part (blob, part, body) VALUES ($1, $2, $3) ON CONFLICT (blob, part) DO NOTHING'
const ADD_BLOB = 'INSERT INTO @blob (id, bytes, sum) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING'
const BLOB = `SELECT b.bytes, b.sum, b.owner_sum, s.id AS owner FROM @blob b
  LEFT JOIN @session s ON s.n = b.session WHERE b.id = $1`
const PART = 'SELECT body FROM @blob_part WHERE blob = $1 AND part = $2'

/** A crash can leave blobs that no entry refers to. Unreferenced blobs of a running server are younger than this. */
const SWEEP = [
  `DELETE FROM @blob WHERE session IS NULL AND made < now() - interval '1 day'`,
  `DELETE FROM @blob_part p WHERE made < now() - interval '1 day'
   AND NOT EXISTS (SELECT FROM @blob b WHERE b.id = p.blob)`,
]

/** Blobs, in rows of 1 MB. */
export class BlobRows implements BlobSink {
  readonly #database: Database
  readonly #reads: Reads

  constructor(database: Database, reads: Reads = database) {
    this.#database = database
    this.#reads = reads
  }

  open(): BlobWriter {
    return new SpooledBlob((id, file, length) => this.#store(id, file, length))
  }

  /** Reads all parts twice: the checksum covers the whole blob, and nothing damaged may be returned. */
  async *read({ id, bytes: length }: BlobRef, range?: ByteRange): AsyncGenerator<Uint8Array> {
    const [blob] = await this.#reads.read(BLOB, [toColumn(id)])
    if (!blob) throw new MainstemError('not_found', `there is no blob ${id}`)
    const owner = typeof blob.owner === 'string' ? fromColumn(blob.owner) : ''
    const isOwned = matches(blob.owner_sum, () => sumOf(SUMS.blob.owner_sum, { session: owner, id }))
    if (!isOwned) throw damaged(`blob ${id}`)
    let [found, sum] = [0, 0]
    for await (const part of this.#parts(id, 0)) {
      found += part.length
      sum = crc32(part, sum)
    }
    const isIntact = found === length && integer(blob, 'bytes') === length
    if (!isIntact || blob.sum !== checksum([length, sum], id)) throw damaged(`blob ${id}`)
    const { start, end } = range ?? { start: 0, end: length }
    let at = Math.floor(start / PART_BYTES) * PART_BYTES
    for await (const part of this.#parts(id, at / PART_BYTES)) {
      if (at >= end) return
      yield part.subarray(Math.max(0, start - at), end - at)
      at += part.length
    }
  }

  async *#parts(id: string, first: number): AsyncGenerator<Uint8Array> {
    for (let part = first; ; part++) {
      const [row] = await this.#reads.read(PART, [toColumn(id), part])
      if (!row) return
      yield bytes(row, 'body')
    }
  }

  /** Stores a blob under the id that it has in another store. Parts that an interrupted copy stored are identical. */
  async copy(id: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    let [part, length, sum] = [0, 0, 0]
    for await (const piece of partsOf(content)) {
      await this.#write(ADD_PART, [id, part, piece])
      part++
      length += piece.length
      sum = crc32(piece, sum)
    }
    await this.#write(ADD_BLOB, [id, length, checksum([length, sum], id)])
  }

  async sweep(): Promise<void> {
    for (const sql of SWEEP) await this.#database.write(sql)
  }

  /** The blob exists once its last row is stored. Rows can be sent again. */
  async #store(id: string, file: number, length: number): Promise<void> {
    const part = Buffer.allocUnsafe(Math.min(PART_BYTES, length))
    let sum = 0
    for (let at = 0; at < length; at += PART_BYTES) {
      const read = readSync(file, part, 0, part.length, at)
      const piece = part.subarray(0, read)
      sum = crc32(piece, sum)
      await this.#write(ADD_PART, [id, at / PART_BYTES, piece])
    }
    await this.#write(ADD_BLOB, [id, length, checksum([length, sum], id)])
  }

  async #write(sql: string, values: readonly unknown[]): Promise<void> {
    await this.#database.persist(() => this.#database.write(sql, values))
  }
}

/** The same bytes in pieces of `PART_BYTES`; only the last is smaller. */
async function* partsOf(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = []
  let length = 0
  for await (let piece of content) {
    while (length + piece.length >= PART_BYTES) {
      const taken = PART_BYTES - length
      yield Buffer.concat([...pieces, piece.subarray(0, taken)])
      piece = piece.subarray(taken)
      pieces = []
      length = 0
    }
    if (piece.length > 0) pieces.push(piece)
    length += piece.length
  }
  if (length > 0) yield Buffer.concat(pieces)
}

/** A blob that is being written, in a temporary file: `write` does not wait, so a queue in memory would be unbounded. */
class SpooledBlob implements BlobWriter {
  readonly #id = randomUUID()
  readonly #folder: string
  readonly #file: number
  readonly #store: (id: string, file: number, length: number) => Promise<void>
  #bytes = 0
  #failed: MainstemError | undefined

  constructor(store: (id: string, file: number, length: number) => Promise<void>) {
    this.#store = store
    try {
      this.#folder = mkdtempSync(join(tmpdir(), 'mainstem-blob-'))
      this.#file = openSync(join(this.#folder, this.#id), 'wx+', 0o600)
    } catch (thrown) {
      throw storageFailed('cannot make a blob', thrown)
    }
  }

  write(chunk: Uint8Array): void {
    if (this.#failed) throw this.#failed
    try {
      for (let at = 0; at < chunk.length; ) at += writeSync(this.#file, chunk, at)
    } catch (thrown) {
      throw this.#fail(thrown)
    }
    this.#bytes += chunk.length
  }

  async close(): Promise<BlobRef> {
    if (this.#failed) throw this.#failed
    try {
      await this.#store(this.#id, this.#file, this.#bytes)
    } catch (thrown) {
      throw this.#fail(thrown)
    }
    this.#remove()
    return { id: this.#id, bytes: this.#bytes }
  }

  discard(): void {
    if (!this.#failed) this.#remove()
  }

  #fail(thrown: unknown): MainstemError {
    this.#failed = storageFailed('cannot write a blob', thrown)
    this.#remove()
    return this.#failed
  }

  #remove(): void {
    closeSync(this.#file)
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
