import type { BlobRef, BlobSink, BlobWriter } from '../../model/index.ts'

/** Blobs in memory, by id. */
export class MemoryBlobs implements BlobSink {
  readonly #blobs = new Map<string, Uint8Array>()
  #ids = 0

  open(): BlobWriter {
    const id = `b${++this.#ids}`
    return new MemoryBlob(id, (bytes) => this.#blobs.set(id, bytes))
  }

  async remove({ id }: BlobRef): Promise<void> {
    this.#blobs.delete(id)
  }

  get(id: string): Uint8Array | undefined {
    return this.#blobs.get(id)
  }

  delete(id: string): void {
    this.#blobs.delete(id)
  }
}

class MemoryBlob implements BlobWriter {
  readonly #id: string
  readonly #keep: (bytes: Uint8Array) => void
  readonly #chunks: Uint8Array[] = []
  #bytes = 0

  constructor(id: string, keep: (bytes: Uint8Array) => void) {
    this.#id = id
    this.#keep = keep
  }

  write(chunk: Uint8Array): void {
    // Copied, because the chunk shares the buffer of a read.
    this.#chunks.push(chunk.slice())
    this.#bytes += chunk.length
  }

  async close(): Promise<BlobRef> {
    const whole = new Uint8Array(this.#bytes)
    let at = 0
    for (const chunk of this.#chunks) {
      whole.set(chunk, at)
      at += chunk.length
    }
    this.#keep(whole)
    return { id: this.#id, bytes: this.#bytes }
  }

  discard(): void {
    this.#chunks.length = 0
  }
}
