import type { BlobRef, BlobWriter } from '../model/index.ts'
import type { Mask } from './mask.ts'
import { MaskScanner } from './mask-scanner.ts'
import type { Matcher } from './matcher.ts'

const NO_BYTES = new Uint8Array()

/** Masks secrets in the bytes of a blob. */
export function maskedBlob(writer: BlobWriter, mask: Mask): BlobWriter {
  return mask.isEmpty ? writer : new MaskedBlob(writer, mask.byteMatcher())
}

class MaskedBlob implements BlobWriter {
  readonly #writer: BlobWriter
  readonly #scanner: MaskScanner
  readonly #encoder = new TextEncoder()
  /** The last bytes, which may begin a secret: fewer than the longest secret has. */
  #kept: Uint8Array = NO_BYTES

  constructor(writer: BlobWriter, matcher: Matcher) {
    this.#writer = writer
    this.#scanner = new MaskScanner(matcher)
  }

  write(chunk: Uint8Array): void {
    this.#pass(chunk, false)
  }

  close(): Promise<BlobRef> {
    this.#pass(NO_BYTES, true)
    return this.#writer.close()
  }

  discard(): void {
    this.#writer.discard()
  }

  #pass(chunk: Uint8Array, isLast: boolean): void {
    const bytes = this.#kept.length === 0 ? chunk : joined(this.#kept, chunk)
    for (const piece of this.#scanner.scan(bytes, isLast)) {
      this.#writer.write(
        typeof piece === 'string' ? this.#encoder.encode(piece) : bytes.subarray(piece.from, piece.to),
      )
    }
    // Copied: the chunk may be reused by the reader.
    this.#kept = bytes.slice(bytes.length - this.#scanner.kept)
  }
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  const both = new Uint8Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}
