import type { BlobRef, BlobSink, BlobWriter } from '../model/index.ts'
import type { Mask } from './mask.ts'

interface Needle {
  bytes: Uint8Array
  mark: Uint8Array
}

const NOTHING = new Uint8Array()

/** Large bytes on their way into the store, with marks in the place of secrets. */
export function maskedBlobs(sink: BlobSink, mask: Mask): BlobSink {
  const encoder = new TextEncoder()
  const needles = () =>
    mask.needles.map(({ text, mark }) => ({ bytes: encoder.encode(text), mark: encoder.encode(mark) }))
  return { open: () => (mask.isEmpty ? sink.open() : new MaskedBlob(sink.open(), needles())) }
}

class MaskedBlob implements BlobWriter {
  readonly #writer: BlobWriter
  readonly #needles: readonly Needle[]
  /** So many bytes at the end may be the beginning of a secret. */
  readonly #kept: number
  #rest: Uint8Array = NOTHING

  constructor(writer: BlobWriter, needles: readonly Needle[]) {
    this.#writer = writer
    this.#needles = needles
    this.#kept = Math.max(...needles.map(({ bytes }) => bytes.length)) - 1
  }

  write(chunk: Uint8Array): void {
    const bytes = new Uint8Array(this.#rest.length + chunk.length)
    bytes.set(this.#rest)
    bytes.set(chunk, this.#rest.length)
    let at = 0
    for (let found = this.#find(bytes, at); found; found = this.#find(bytes, at)) {
      this.#pass(bytes.subarray(at, found.at))
      this.#writer.write(found.needle.mark)
      at = found.at + found.needle.bytes.length
    }
    const end = Math.max(at, bytes.length - this.#kept)
    this.#pass(bytes.subarray(at, end))
    this.#rest = bytes.slice(end)
  }

  close(): Promise<BlobRef> {
    this.#pass(this.#rest)
    return this.#writer.close()
  }

  #pass(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#writer.write(bytes)
  }

  /** The first secret from here on; of two that begin together the longer one, which is looked for first. */
  #find(bytes: Uint8Array, from: number): { needle: Needle; at: number } | undefined {
    let first: { needle: Needle; at: number } | undefined
    for (const needle of this.#needles) {
      const at = indexOf(bytes, needle.bytes, from)
      if (at >= 0 && (!first || at < first.at)) first = { needle, at }
    }
    return first
  }
}

function indexOf(bytes: Uint8Array, needle: Uint8Array, from: number): number {
  const [first = 0] = needle
  for (let at = bytes.indexOf(first, from); at >= 0; at = bytes.indexOf(first, at + 1)) {
    if (at + needle.length > bytes.length) return -1
    if (needle.every((byte, index) => bytes[at + index] === byte)) return at
  }
  return -1
}
