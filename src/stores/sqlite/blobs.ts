import { randomUUID } from 'node:crypto'
import { closeSync, fsync, openSync, rmSync, writeSync } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type BlobRef, type BlobSink, type BlobWriter, MainstemError } from '../../model/index.ts'
import { storageFailed } from './storage-failed.ts'

const syncFile = promisify(fsync)
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Large bytes, a file each: they never are in memory as a whole on their way in. */
export class Blobs implements BlobSink {
  readonly #folder: string
  readonly #sync: boolean

  constructor(folder: string, sync: boolean) {
    this.#folder = folder
    this.#sync = sync
  }

  open(): BlobWriter {
    return new BlobFile(this.#folder, this.#sync)
  }

  async read({ id }: BlobRef): Promise<Uint8Array> {
    // An id comes from outside; nothing else may become a path.
    if (!UUID.test(id)) throw unknownBlob(id)
    try {
      return await readFile(join(this.#folder, id))
    } catch (thrown) {
      if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') throw unknownBlob(id)
      throw storageFailed(`cannot read blob ${id}`, thrown)
    }
  }
}

class BlobFile implements BlobWriter {
  readonly #folder: string
  readonly #sync: boolean
  readonly #id = randomUUID()
  readonly #path: string
  readonly #file: number
  #bytes = 0
  #failed: MainstemError | undefined

  constructor(folder: string, sync: boolean) {
    this.#folder = folder
    this.#sync = sync
    this.#path = join(folder, this.#id)
    try {
      this.#file = openSync(this.#path, 'wx', 0o600)
    } catch (thrown) {
      throw storageFailed('cannot make a blob', thrown)
    }
  }

  /** At once: the reader uses its chunk again, and a queue in between would have no bound. */
  write(chunk: Uint8Array): void {
    if (this.#failed) throw this.#failed
    try {
      for (let at = 0; at < chunk.length; ) at += writeSync(this.#file, chunk, at)
    } catch (thrown) {
      throw this.#fail(thrown)
    }
    this.#bytes += chunk.length
  }

  /** The bytes and their name are safe before any entry can name them. */
  async close(): Promise<BlobRef> {
    if (this.#failed) throw this.#failed
    try {
      if (this.#sync) {
        await syncFile(this.#file)
        await syncFolder(this.#folder)
      }
    } catch (thrown) {
      throw this.#fail(thrown)
    }
    closeSync(this.#file)
    return { id: this.#id, bytes: this.#bytes }
  }

  #fail(thrown: unknown): MainstemError {
    this.#failed = storageFailed('cannot write a blob', thrown)
    closeSync(this.#file)
    rmSync(this.#path, { force: true })
    return this.#failed
  }
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
