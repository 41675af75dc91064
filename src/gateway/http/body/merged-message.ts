import { IncomingMessage } from 'node:http'

/** Larger chunks are passed on as they are. */
const SMALL = 1_024
/** Chunks of one packet, after which the next packet waits until the reader of the body asks for it. */
const MANY = 64

/**
 * A request that joins the small chunks of one packet. The parser makes a buffer of each chunk, which takes a thousand
 * times its bytes when it is one byte, and a packet can have ten thousand of them. After such a packet, no more is read
 * before `goOn`: so the reader decides how fast they may come.
 */
export class MergedMessage extends IncomingMessage {
  /** Chunks so far. */
  chunks = 0
  #parts: Buffer = Buffer.alloc(0)
  #size = 0
  #inPacket = 0
  #isHeld = false
  #isWanted = false

  /** Returns false if the connection should be paused. */
  override push(chunk: Uint8Array | null, encoding?: BufferEncoding): boolean {
    if (chunk === null) {
      if (this.#size > 0) this.#flush()
      return super.push(null)
    }
    this.chunks++
    // A body with a length has one chunk in each packet.
    const isAlone = this.headers['transfer-encoding'] === undefined
    if (isAlone || (this.#size === 0 && chunk.length > SMALL)) return super.push(chunk, encoding)
    this.#join(chunk)
    if (this.#inPacket <= MANY) return true
    this.#isHeld = true
    return false
  }

  override _read(size: number): void {
    if (this.#isHeld) this.#isWanted = true
    else super._read(size)
  }

  /** Reads on after a packet of many chunks. */
  goOn(): void {
    this.#isHeld = false
    if (!this.#isWanted) return
    this.#isWanted = false
    super._read(this.readableHighWaterMark)
  }

  /** Throws away the rest of the body up to its end, or up to a packet of many chunks: there may be no end of them. */
  discard(): void {
    // Node parses all that follows a response, unless the body is being read.
    super._read(this.readableHighWaterMark)
    this.resume()
  }

  #join(chunk: Uint8Array): void {
    // Microtasks and ticks run between two chunks of a packet.
    if (this.#inPacket++ === 0) setImmediate(() => this.#flush())
    const size = this.#size + chunk.length
    if (size > this.#parts.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(size, this.#parts.length * 2))
      grown.set(this.#parts.subarray(0, this.#size))
      this.#parts = grown
    }
    this.#parts.set(chunk, this.#size)
    this.#size = size
  }

  #flush(): void {
    const joined = this.#parts.subarray(0, this.#size)
    this.#parts = Buffer.alloc(0)
    this.#size = 0
    this.#inPacket = 0
    if (joined.length > 0) super.push(joined)
  }
}
