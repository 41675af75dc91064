import { randomUUID } from 'node:crypto'
import { fsync, rmSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import { type BlobRef, type BlobSink, type BlobWriter, MainstemError } from '../../model/index.ts'
import { codeOf } from '../../model/outcome/mainstem-error.ts'
import type { ByteRange } from '../../model/text/byte-range.ts'
import { BlobFile } from '../blob-file.ts'
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
    return this.#begin(randomUUID())
  }

  async remove({ id }: BlobRef): Promise<void> {
    if (this.takeSum(id) !== undefined) rmSync(join(this.#folder, id), { force: true })
  }

  /** Writes a blob under the id that it has in another store. Replaces what an interrupted copy left. */
  async copy(id: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    if (!UUID.test(id)) throw unknownBlob(id)
    rmSync(join(this.#folder, id), { force: true })
    const file = this.#begin(id)
    try {
      for await (const piece of content) file.write(piece)
    } catch (thrown) {
      throw file.fail(thrown)
    }
    await file.close()
  }

  #begin(id: string): BlobFile {
    return new BlobFile(id, join(this.#folder, id), async ({ file, sum }) => {
      if (this.#sync) {
        await syncFile(file)
        await syncFolder(this.#folder)
      }
      this.#sums.set(id, sum)
    })
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
