import { FRAME_BYTES } from '../model/text/large-value.ts'

const LF = 0x0a
const CR = 0x0d
const BOM = Uint8Array.of(0xef, 0xbb, 0xbf)
const NO_BYTES = new Uint8Array(0)

/** A buffer that grew beyond this size for one long line is released afterwards. */
const KEPT_CAPACITY = 64 * 1024

/**
 * Bytes of a line over the limit. The chunks of one line are consecutive; the one with `last` ends it and may be empty.
 */
export interface OversizedChunk {
  readonly oversized: Uint8Array
  readonly last: boolean
}

/** A complete line without its newline, or a chunk of a line that is too long to buffer. */
export type LinePiece = string | OversizedChunk

/**
 * Splits bytes into lines at LF or CRLF only: U+2028, a lone CR and NUL are legal inside a line. Skips blank lines,
 * because they carry no frame. The result does not depend on how the bytes were chunked.
 */
export class LineSplitter {
  readonly #limit: number
  // Strips a BOM once, at the start of the stream; without `ignoreBOM` the decoder would strip one in every call.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  #atStart = true
  #bomBytes = 0
  /** The unterminated line: the first `#openSize` bytes of `#open`. */
  #open = NO_BYTES
  #openSize = 0
  /** Set when the open line exceeds the limit and its buffered bytes were already emitted. */
  #overflowing = false
  /** Set when the last byte was a CR, which is emitted only if no LF follows. */
  #crPending = false

  constructor(limitBytes = FRAME_BYTES) {
    this.#limit = limitBytes
  }

  /** Returns the pieces that this chunk completes. Oversized pieces may share the chunk's memory. */
  push(chunk: Uint8Array): LinePiece[] {
    const pieces: LinePiece[] = []
    const bytes = this.#atStart ? this.#skipBom(chunk, pieces) : chunk
    const regionEnd = bytes.lastIndexOf(LF) + 1
    let regionStart = 0
    if (regionEnd > 0 && (this.#openSize > 0 || this.#overflowing)) {
      const newline = bytes.indexOf(LF)
      this.#extend(bytes.subarray(0, newline), pieces)
      this.#close(pieces)
      regionStart = newline + 1
    }
    if (regionStart < regionEnd) this.#cut(range(bytes, regionStart, regionEnd), pieces)
    if (regionEnd < bytes.length) this.#extend(bytes.subarray(regionEnd), pieces)
    return pieces
  }

  /** Ends the stream: the last line needs no newline. */
  end(): LinePiece[] {
    const pieces: LinePiece[] = []
    if (this.#atStart) this.#extend(BOM.subarray(0, this.#bomBytes), pieces)
    // Without a following LF the CR belongs to the line and may push it over the limit.
    if (this.#openSize > this.#limit) this.#overflow(pieces)
    if (this.#overflowing) {
      pieces.push({ oversized: this.#crPending ? Uint8Array.of(CR) : NO_BYTES, last: true })
    } else if (this.#openSize > 0) {
      pieces.push(this.#decoder.decode(this.#open.subarray(0, this.#openSize)))
    }
    return pieces
  }

  /** Splits a region of complete lines, each with its newline. */
  #cut(region: Uint8Array, pieces: LinePiece[]): void {
    if (region.length <= this.#limit) {
      // Decodes many lines in one call, which makes this fast. It is safe: in UTF-8 the byte 0x0A is always LF.
      cutText(this.#decoder.decode(region), pieces)
      return
    }
    for (let from = 0; from < region.length; ) {
      const newline = region.indexOf(LF, from)
      this.#extend(region.subarray(from, newline), pieces)
      this.#close(pieces)
      from = newline + 1
    }
  }

  /** Appends bytes without a newline to the open line. */
  #extend(bytes: Uint8Array, pieces: LinePiece[]): void {
    if (bytes.length === 0) return
    if (!this.#overflowing) {
      const size = this.#openSize + bytes.length
      // The newline does not count towards the limit, and a trailing CR may be part of it.
      if (size - (endsInCr(bytes) ? 1 : 0) <= this.#limit) {
        this.#append(bytes)
        return
      }
      this.#overflow(pieces)
    }
    this.#pass(bytes, pieces)
  }

  /** Completes the open line at its newline. */
  #close(pieces: LinePiece[]): void {
    if (this.#overflowing) {
      pieces.push({ oversized: NO_BYTES, last: true })
      this.#overflowing = false
      this.#crPending = false
      return
    }
    const line = this.#open.subarray(0, this.#openSize)
    const text = endsInCr(line) ? line.subarray(0, -1) : line
    if (text.length > 0) pieces.push(this.#decoder.decode(text))
    this.#openSize = 0
    if (this.#open.length > KEPT_CAPACITY) this.#open = NO_BYTES
  }

  #append(bytes: Uint8Array): void {
    const size = this.#openSize + bytes.length
    if (size > this.#open.length) {
      // Doubling keeps the cost of a long line linear; copying releases the chunks that it arrived in.
      const grown = new Uint8Array(Math.max(size, this.#open.length * 2))
      grown.set(this.#open.subarray(0, this.#openSize))
      this.#open = grown
    }
    this.#open.set(bytes, this.#openSize)
    this.#openSize = size
  }

  /** Starts emitting an oversized line: emits the buffered bytes and releases the buffer. */
  #overflow(pieces: LinePiece[]): void {
    const held = this.#open.subarray(0, this.#openSize)
    this.#open = NO_BYTES
    this.#openSize = 0
    this.#overflowing = true
    this.#pass(held, pieces)
  }

  /** Emits bytes of an oversized line without buffering them. */
  #pass(bytes: Uint8Array, pieces: LinePiece[]): void {
    if (bytes.length === 0) return
    if (this.#crPending) pieces.push({ oversized: Uint8Array.of(CR), last: false })
    this.#crPending = endsInCr(bytes)
    const passed = this.#crPending ? bytes.subarray(0, -1) : bytes
    if (passed.length > 0) pieces.push({ oversized: passed, last: false })
  }

  /** Strips a BOM even when it is split across chunks; bytes that only looked like a BOM go to the first line. */
  #skipBom(chunk: Uint8Array, pieces: LinePiece[]): Uint8Array {
    let at = 0
    while (at < chunk.length && this.#bomBytes < BOM.length && chunk[at] === BOM[this.#bomBytes]) {
      at++
      this.#bomBytes++
    }
    const isBom = this.#bomBytes === BOM.length
    if (!isBom && at === chunk.length) return NO_BYTES
    this.#atStart = false
    if (!isBom) this.#extend(BOM.subarray(0, this.#bomBytes), pieces)
    return chunk.subarray(at)
  }
}

/** Agents mostly flush whole lines; creating a subarray for each chunk would be a large part of the cost of a line. */
function range(bytes: Uint8Array, from: number, to: number): Uint8Array {
  return from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to)
}

function endsInCr(bytes: Uint8Array): boolean {
  return bytes[bytes.length - 1] === CR
}

function cutText(text: string, pieces: LinePiece[]): void {
  let from = 0
  for (let newline = text.indexOf('\n'); newline >= 0; newline = text.indexOf('\n', from)) {
    const end = text.charCodeAt(newline - 1) === CR ? newline - 1 : newline
    if (end > from) pieces.push(text.slice(from, end))
    from = newline + 1
  }
}
