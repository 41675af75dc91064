import type { Upload } from './upload-room.ts'

const NO_BYTES = Buffer.alloc(0)

/** A buffer that grew beyond this size for one long line is released afterwards. */
const KEPT_CAPACITY = 64 * 1024
const FIRST_CAPACITY = 1024

/**
 * Collects chunks in one buffer, whose capacity is reserved. A list of chunks would need hundreds of bytes for each,
 * so a client that sends one byte at a time could exhaust the heap with a small body.
 */
export class ByteBuffer {
  readonly #upload: Upload
  #bytes = NO_BYTES
  #size = 0

  constructor(upload: Upload) {
    this.#upload = upload
  }

  get size(): number {
    return this.#size
  }

  append(chunk: Uint8Array): void {
    const size = this.#size + chunk.length
    if (size > this.#bytes.length) this.#grow(Math.max(size, this.#bytes.length * 2, FIRST_CAPACITY))
    this.#bytes.set(chunk, this.#size)
    this.#size = size
  }

  /** The bytes so far, without a copy: valid until the next `append`. The buffer is empty afterwards. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#size)
    this.#size = 0
    if (this.#bytes.length > KEPT_CAPACITY) this.#bytes = NO_BYTES
    return taken
  }

  /** Returns the reservation of bytes that were taken and are no longer used. */
  settle(): void {
    this.#upload.hold(this.#bytes.length)
  }

  #grow(capacity: number): void {
    this.#upload.hold(capacity)
    const grown = Buffer.allocUnsafeSlow(capacity)
    grown.set(this.#bytes.subarray(0, this.#size))
    this.#bytes = grown
  }
}
