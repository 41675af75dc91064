import { randomUUID } from 'node:crypto'
import { readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { type BlobRef, type BlobSink, type BlobWriter, MainstemError } from '../../model/index.ts'
import type { ByteRange } from '../../model/text/byte-range.ts'
import { BlobFile } from '../blob-file.ts'
import { checksum, matches } from '../checksum.ts'
import { damaged } from '../refusals.ts'
import { bytes, integer } from '../row.ts'
import { sumOf } from '../tables.ts'
import { fromColumn, toColumn } from './columns.ts'
import type { Database, Reads } from './database.ts'
import { SUMS } from './table-rows.ts'

/** The bytes of a part; only the last is smaller. */
export const PART_BYTES = 1024 * 1024

const ADD_PART =
  'INSERT INTO @blob_part (blob, part, body) VALUES ($1, $2, $3) ON CONFLICT (blob, part) DO NOTHING'
const ADD_BLOB = 'INSERT INTO @blob (id, bytes, sum) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING'
const BLOB = `SELECT b.bytes, b.sum, b.owner_sum, s.id AS owner FROM @blob b
  LEFT JOIN @session s ON s.n = b.session WHERE b.id = $1`
const PART = 'SELECT body FROM @blob_part WHERE blob = $1 AND part = $2'

const REMOVE_BLOB = 'DELETE FROM @blob WHERE id = $1 AND session IS NULL'
const REMOVE_PARTS = `DELETE FROM @blob_part p WHERE blob = $1
  AND NOT EXISTS (SELECT FROM @blob b WHERE b.id = p.blob)`

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
    const id = randomUUID()
    const path = join(tmpdir(), `mainstem-blob-${id}`)
    return new BlobFile(id, path, async ({ file, bytes }) => {
      await this.copy(id, piecesOf(file, bytes))
      rmSync(path)
    })
  }

  async remove({ id }: BlobRef): Promise<void> {
    await this.#write(REMOVE_BLOB, [id])
    await this.#write(REMOVE_PARTS, [id])
  }

  /** Reads all parts twice: the checksum covers the whole blob, and nothing damaged may be returned. */
  async *read({ id, bytes: length }: BlobRef, range?: ByteRange): AsyncGenerator<Uint8Array> {
    const [blob] = await this.#reads.read(BLOB, [toColumn(id)])
    if (!blob) throw new MainstemError('not_found', `there is no blob ${id}`)
    const owner = typeof blob.owner === 'string' ? fromColumn(blob.owner) : ''
    const isOwned = matches(blob.owner_sum, () => sumOf(SUMS.blob.owner_sum, { session: owner, id }))
    if (!isOwned) throw damaged(`blob ${id}`)
    const found = await this.contentOf(id)
    const isIntact = found.bytes === length && integer(blob, 'bytes') === length
    if (!isIntact || blob.sum !== checksum([length, found.sum], id)) throw damaged(`blob ${id}`)
    const { start, end } = range ?? { start: 0, end: length }
    let at = Math.floor(start / PART_BYTES) * PART_BYTES
    for await (const part of this.#parts(id, at / PART_BYTES)) {
      if (at >= end) return
      yield part.subarray(Math.max(0, start - at), end - at)
      at += part.length
    }
  }

  /** The size and the checksum of all parts together. */
  async contentOf(id: string): Promise<{ bytes: number; sum: number }> {
    let [bytes, sum] = [0, 0]
    for await (const part of this.#parts(id, 0)) {
      bytes += part.length
      sum = crc32(part, sum)
    }
    return { bytes, sum }
  }

  async *#parts(id: string, first: number): AsyncGenerator<Uint8Array> {
    for (let part = first; ; part++) {
      const [row] = await this.#reads.read(PART, [toColumn(id), part])
      if (!row) return
      yield bytes(row, 'body')
    }
  }

  /** Stores a blob, which exists once its last row is stored. Rows can be sent again: those of an attempt before are identical. */
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

  async #write(sql: string, values: readonly unknown[]): Promise<void> {
    await this.#database.persist(() => this.#database.write(sql, values))
  }
}

async function* piecesOf(file: number, bytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes; at += PART_BYTES) {
    const piece = Buffer.allocUnsafe(Math.min(PART_BYTES, bytes - at))
    readSync(file, piece, 0, piece.length, at)
    yield piece
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
