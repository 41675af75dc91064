import { randomUUID } from 'node:crypto'
import { closeSync, fsync, openSync, rmSync, writeSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import { type BlobRef, type BlobSink, type BlobWriter, MainstemError } from '../../model/index.ts'
import { codeOf } from '../../model/outcome/mainstem-error.ts'
import type { ByteRange } from '../../model/text/byte-range.ts'
import { checksum } from '../checksum.ts'
import { BLOB_PIECE } from '../read-bytes.ts'
import { damaged, storageFailed } from '../refusals.ts'

const syncFile = promisify(fsync)
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Blobs, one file each. Written and read in pieces, so a blob is never in memory as a whole. */
export class BlobFiles implements BlobSink {
  readonly #folder: string
  readonly #sync: boolean
  /** The checksums of blobs that no entry refers to yet. */
  readonly #sums = new Map<string, number>()

  constructor(folder: string, sync: boolean) {
    this.#folder = folder
    this.#sync = sync
  }

  open(): BlobWriter {
    return new BlobFile(this.#folder, this.#sync, (id, sum) => this.#sums.set(id, sum))
  }

  /** Writes a blob under the id that it has in another store. Replaces what an interrupted copy left. */
  async copy(id: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    if (!UUID.test(id)) throw unknownBlob(id)
    rmSync(join(this.#folder, id), { force: true })
    const file = new BlobFile(this.#folder, this.#sync, (copied, sum) => this.#sums.set(copied, sum), id)
    try {
      for await (const piece of content) file.write(piece)
    } catch (thrown) {
      throw file.fail(thrown)
    }
    await file.close()
  }

  /** The checksum of a new blob, for the first entry that refers to it. */
  takeSum(id: string): number | undefined {
    const sum = this.#sums.get(id)
    this.#sums.delete(id)
    return sum
  }

  /** Calls `isIntact` with the checksum of the bytes before it returns the first piece. */
  async *read(
    { id, bytes }: BlobRef,
    isIntact: (content: number) => boolean,
    { start, end }: ByteRange = { start: 0, end: bytes },
  ): AsyncGenerator<Uint8Array> {
    // The id comes from a caller and becomes a path, so only the exact format is accepted.
    if (!UUID.test(id)) throw unknownBlob(id)
    const file = await openBlob(join(this.#folder, id), id)
    try {
      const found = await contentOf(file)
      if (found.bytes !== bytes || !isIntact(found.sum)) throw damaged(`blob ${id}`)
      for await (const piece of piecesOf(file, start, end)) yield new Uint8Array(piece)
    } catch (thrown) {
      throw storageFailed(`cannot read blob ${id}`, thrown)
    } finally {
      await file.close()
    }
  }
}

async function openBlob(path: string, id: string): Promise<FileHandle> {
  try {
    return await open(path, 'r')
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') throw unknownBlob(id)
    throw storageFailed(`cannot read blob ${id}`, thrown)
  }
}

/** The size and the checksum of a file, which is never in memory as a whole. */
export async function contentOf(file: FileHandle): Promise<{ bytes: number; sum: number }> {
  let [bytes, sum] = [0, 0]
  for await (const piece of piecesOf(file, 0, Number.POSITIVE_INFINITY)) {
    bytes += piece.length
    sum = crc32(piece, sum)
  }
  return { bytes, sum }
}

/** All pieces share one buffer: each is valid until the next is asked for. */
async function* piecesOf(file: FileHandle, start: number, end: number): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(BLOB_PIECE)
  for (let at = start; at < end; ) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(BLOB_PIECE, end - at), at)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
    at += bytesRead
  }
}

class BlobFile implements BlobWriter {
  readonly #folder: string
  readonly #sync: boolean
  readonly #id: string
  readonly #path: string
  readonly #file: number
  readonly #closed: (id: string, sum: number) => void
  #bytes = 0
  #sum = 0
  #failed: MainstemError | undefined

  constructor(
    folder: string,
    sync: boolean,
    closed: (id: string, sum: number) => void,
    id: string = randomUUID(),
  ) {
    this.#id = id
    this.#folder = folder
    this.#sync = sync
    this.#closed = closed
    this.#path = join(folder, this.#id)
    try {
      this.#file = openSync(this.#path, 'wx', 0o600)
    } catch (thrown) {
      throw storageFailed('cannot make a blob', thrown)
    }
  }

  /** Synchronous: the reader reuses its chunk, and a queue in between would be unbounded. */
  write(chunk: Uint8Array): void {
    if (this.#failed) throw this.#failed
    try {
      for (let at = 0; at < chunk.length; ) at += writeSync(this.#file, chunk, at)
    } catch (thrown) {
      throw this.fail(thrown)
    }
    this.#bytes += chunk.length
    this.#sum = crc32(chunk, this.#sum)
  }

  /** Syncs the file and its directory before any entry can refer to the blob. */
  async close(): Promise<BlobRef> {
    if (this.#failed) throw this.#failed
    try {
      if (this.#sync) {
        await syncFile(this.#file)
        await syncFolder(this.#folder)
      }
    } catch (thrown) {
      throw this.fail(thrown)
    }
    closeSync(this.#file)
    this.#closed(this.#id, this.#sum)
    return { id: this.#id, bytes: this.#bytes }
  }

  discard(): void {
    if (!this.#failed) this.#remove()
  }

  /** Removes the file. Returns the error for the caller, and for every later call. */
  fail(thrown: unknown): MainstemError {
    if (this.#failed) return this.#failed
    this.#failed = storageFailed('cannot write a blob', thrown)
    this.#remove()
    return this.#failed
  }

  #remove(): void {
    closeSync(this.#file)
    rmSync(this.#path, { force: true })
  }
}

/** The checksum of a blob row: of the checksum of its bytes and of the session. */
export function blobSum(id: string, session: number, content: number): number {
  return checksum([session, content], id)
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

function unknownBlob(id: string): MainstemError {
  return new MainstemError('not_found', `there is no blob ${id}`)
}
