const LF = 0x0a
const CR = 0x0d
const BOM = Uint8Array.of(0xef, 0xbb, 0xbf)
const NO_BYTES = new Uint8Array(0)

const DEFAULT_LIMIT = 16 * 1024 * 1024

/** A buffer that grew beyond this for one long line is not kept for the next. */
const KEPT_CAPACITY = 64 * 1024

/** Bytes of a line over the limit. Its chunks come one after another; `last` ends it and may be empty. */
export interface OversizedChunk {
  readonly oversized: Uint8Array
  readonly last: boolean
}

/** A whole line without its newline, or a part of one that is too long to be held. */
export type LinePiece = string | OversizedChunk

/**
 * Cuts bytes into lines at LF or CRLF and nowhere else: U+2028, a lone CR and NUL are legal inside a line.
 * Blank lines carry no frame and are left out. How the bytes were chunked never shows in the lines.
 */
export class LineSplitter {
  readonly #limit: number
  // A BOM is dropped once, at the start of the stream; the decoder alone would drop one in every call.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  #atStart = true
  #bomBytes = 0
  /** The line that has no newline yet: the first `#openSize` bytes of `#open`. */
  #open = NO_BYTES
  #openSize = 0
  /** The open line is over the limit, and what came of it so far has left. */
  #overflowing = false
  /** Its last byte was a CR, which leaves only if no LF follows. */
  #crPending = false

  constructor(limitBytes = DEFAULT_LIMIT) {
    this.#limit = limitBytes
  }

  /** The pieces that this chunk completes. Oversized ones may share its memory. */
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

  /** The stream is over: a last line needs no newline. */
  end(): LinePiece[] {
    const pieces: LinePiece[] = []
    if (this.#atStart) this.#extend(BOM.subarray(0, this.#bomBytes), pieces)
    // Without an LF behind it the CR belongs to the line, and may be the byte that is too many.
    if (this.#openSize > this.#limit) this.#overflow(pieces)
    if (this.#overflowing) {
      pieces.push({ oversized: this.#crPending ? Uint8Array.of(CR) : NO_BYTES, last: true })
    } else if (this.#openSize > 0) {
      pieces.push(this.#decoder.decode(this.#open.subarray(0, this.#openSize)))
    }
    return pieces
  }

  /** Takes lines that are complete, each with its newline. */
  #cut(region: Uint8Array, pieces: LinePiece[]): void {
    if (region.length <= this.#limit) {
      // One decoder call for many lines is what makes this fast. It is safe: in UTF-8, 0x0A is only ever LF.
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

  /** Adds bytes without a newline to the open line. */
  #extend(bytes: Uint8Array, pieces: LinePiece[]): void {
    if (bytes.length === 0) return
    if (!this.#overflowing) {
      const size = this.#openSize + bytes.length
      // The newline does not count, and a CR at the end may turn out to be part of it.
      if (size - (endsInCr(bytes) ? 1 : 0) <= this.#limit) {
        this.#append(bytes)
        return
      }
      this.#overflow(pieces)
    }
    this.#pass(bytes, pieces)
  }

  /** The newline of the open line has come. */
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
      // Doubling keeps a long line linear; copying keeps it from pinning every chunk it came in.
      const grown = new Uint8Array(Math.max(size, this.#open.length * 2))
      grown.set(this.#open.subarray(0, this.#openSize))
      this.#open = grown
    }
    this.#open.set(bytes, this.#openSize)
    this.#openSize = size
  }

  /** The open line is over the limit: hands over what was held of it, together with its buffer. */
  #overflow(pieces: LinePiece[]): void {
    const held = this.#open.subarray(0, this.#openSize)
    this.#open = NO_BYTES
    this.#openSize = 0
    this.#overflowing = true
    this.#pass(held, pieces)
  }

  /** Lets bytes of a line over the limit through. */
  #pass(bytes: Uint8Array, pieces: LinePiece[]): void {
    if (bytes.length === 0) return
    if (this.#crPending) pieces.push({ oversized: Uint8Array.of(CR), last: false })
    this.#crPending = endsInCr(bytes)
    const passed = this.#crPending ? bytes.subarray(0, -1) : bytes
    if (passed.length > 0) pieces.push({ oversized: passed, last: false })
  }

  /** Drops a BOM, however it is chunked; what only looked like the start of one goes into the first line. */
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

/** Agents mostly flush whole lines: a view of the whole chunk would be a good part of the cost of a line. */
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
