import { blobReference } from '../../model/blob.ts'
import type { BlobRef, BlobSink, BlobWriter } from '../../model/index.ts'
import type { Hash, ValueSink } from '../../model/text/large-value.ts'

export interface ValueSinkDeps {
  blobs: Pick<BlobSink, 'open'>
  newHash(): Hash
  /** Masks secrets in what is written. */
  mask?(writer: BlobWriter): BlobWriter
}

/** Stores large values as blobs. The digest covers a value as the agent wrote it, its beginning is shown masked. */
export function valueSink({ blobs, newHash, mask = (writer) => writer }: ValueSinkDeps): ValueSink {
  return {
    open() {
      const head = new HeadWriter(blobs.open())
      const writer = mask(head)
      const hash = newHash()
      return {
        write(chunk) {
          hash.update(chunk)
          writer.write(chunk)
        },
        async close() {
          const blob = await writer.close()
          return { blob, text: `${head.text}… ${blobReference(blob)}`, digest: hash.digest('hex') }
        },
        discard: () => writer.discard(),
      }
    },
  }
}

/** How much of a value an event shows. */
const HEAD_BYTES = 1024

/** Keeps the first bytes of a blob. */
class HeadWriter implements BlobWriter {
  readonly #writer: BlobWriter
  readonly #bytes = new Uint8Array(HEAD_BYTES)
  #size = 0

  constructor(writer: BlobWriter) {
    this.#writer = writer
  }

  /** Without a last character that is cut in two. */
  get text(): string {
    return new TextDecoder().decode(this.#bytes.subarray(0, this.#size), { stream: true })
  }

  write(chunk: Uint8Array): void {
    const part = chunk.subarray(0, HEAD_BYTES - this.#size)
    this.#bytes.set(part, this.#size)
    this.#size += part.length
    this.#writer.write(chunk)
  }

  close(): Promise<BlobRef> {
    return this.#writer.close()
  }

  discard(): void {
    this.#writer.discard()
  }
}
