import { randomUUID } from 'node:crypto'
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { type BlobRef, type BlobSink, type BlobWriter, MainstemError } from '../../model/index.ts'
import { checksum } from '../checksum.ts'
import { damaged } from '../damaged.ts'
import { bytes, integer } from '../row.ts'
import { storageFailed } from '../storage-failed.ts'
import { toColumn } from './columns.ts'
import type { Database } from './database.ts'

const PART_BYTES = 1024 * 1024

const ADD_PART =
  'INSERT INTO @blob_part (blob, part, body) VALUES ($1, $2, $3) ON CONFLICT (blob, part) DO NOTHING'
const ADD_BLOB = 'INSERT INTO @blob (id, bytes, sum) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING'
const PARTS = `SELECT b.bytes, b.sum, p.body FROM @blob b LEFT JOIN @blob_part p ON p.blob = b.id
  WHERE b.id = $1 ORDER BY p.part`

/** A crash can leave blobs that no entry came to name. Those of a running server are younger than this. */
const SWEEP = [
  `DELETE FROM @blob WHERE session IS NULL AND made < now() - interval '1 day'`,
  `DELETE FROM @blob_part p WHERE made < now() - interval '1 day'
   AND NOT EXISTS (SELECT FROM @blob b WHERE b.id = p.blob)`,
]

/** Large bytes, in rows of 1 MB. */
export class Blobs implements BlobSink {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  open(): BlobWriter {
    return new SpooledBlob((id, file, length) => this.#store(id, file, length))
  }

  async read({ id, bytes: length }: BlobRef): Promise<Uint8Array> {
    const rows = await this.#database.read(PARTS, [toColumn(id)])
    const [first] = rows
    if (!first) throw new MainstemError('not_found', `there is no blob ${id}`)
    const whole = Buffer.concat(rows.flatMap((row) => (row.body === null ? [] : bytes(row, 'body'))))
    const sum = checksum([whole.length, crc32(whole)], id)
    if (whole.length !== length || integer(first, 'bytes') !== length || first.sum !== sum) {
      throw damaged(`blob ${id}`)
    }
    return whole
  }

  async sweep(): Promise<void> {
    for (const sql of SWEEP) await this.#database.write(sql)
  }

  /** The last row makes it a blob; until then its parts are nothing. All may be sent again. */
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

/** A blob on its way: in a temporary file, because writing does not wait and a queue would have no bound. */
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
