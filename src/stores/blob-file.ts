import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import type { BlobRef, BlobWriter, MainstemError } from '../model/index.ts'
import { storageFailed } from './refusals.ts'

/** A blob that was written to a file. `sum` is the checksum of its bytes. */
export interface WrittenBlob extends BlobRef {
  file: number
  sum: number
}

/** A blob that is being written, in a file: `write` does not wait, so a queue in memory would be unbounded. */
export class BlobFile implements BlobWriter {
  readonly #id: string
  readonly #path: string
  readonly #file: number
  readonly #finish: (blob: WrittenBlob) => Promise<void>
  #bytes = 0
  #sum = 0
  #failed: MainstemError | undefined

  /** `finish` stores the blob before any entry can refer to it. */
  constructor(id: string, path: string, finish: (blob: WrittenBlob) => Promise<void>) {
    this.#id = id
    this.#path = path
    this.#finish = finish
    try {
      this.#file = openSync(path, 'wx+', 0o600)
    } catch (thrown) {
      throw storageFailed('cannot make a blob', thrown)
    }
  }

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

  async close(): Promise<BlobRef> {
    if (this.#failed) throw this.#failed
    const ref = { id: this.#id, bytes: this.#bytes }
    try {
      await this.#finish({ ...ref, file: this.#file, sum: this.#sum })
    } catch (thrown) {
      throw this.fail(thrown)
    }
    closeSync(this.#file)
    return ref
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
