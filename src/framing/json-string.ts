const QUOTE = 0x22
const BACKSLASH = 0x5c
const LETTER_U = 0x75
const FIRST_PRINTABLE = 0x20
const HEX_DIGITS = 4
const REPLACEMENT = 0xfffd

const BUFFER_BYTES = 64 * 1024

/** The longest UTF-8 sequence. */
const LONGEST = 4

/** The byte that a backslash and this byte represent. */
const ESCAPES: ReadonlyMap<number, number> = new Map([
  [QUOTE, QUOTE],
  [BACKSLASH, BACKSLASH],
  [0x2f, 0x2f], // solidus
  [0x62, 0x08], // b: backspace
  [0x66, 0x0c], // f: form feed
  [0x6e, 0x0a], // n: line feed
  [0x72, 0x0d], // r: carriage return
  [0x74, 0x09], // t: tab
])

/** Decodes the bytes of one JSON string, in chunks of any size, from behind its opening quote. */
export class JsonStringDecoder {
  readonly #write: (decoded: Uint8Array) => void
  readonly #out = new Uint8Array(BUFFER_BYTES)
  #size = 0
  /** The last byte was a backslash. */
  #isEscape = false
  /** The number of missing digits of a `\u` escape, and the value of the digits that arrived. */
  #digits = 0
  #unit = 0
  /** The first half of a surrogate pair, whose second half may follow. */
  #high: number | undefined
  #state: 'open' | 'closed' | 'invalid' = 'open'

  /** `write` receives the decoded text as UTF-8; each chunk is valid during the call only. */
  constructor(write: (decoded: Uint8Array) => void) {
    this.#write = write
  }

  get state(): 'open' | 'closed' | 'invalid' {
    return this.#state
  }

  /** Reads up to the closing quote. Returns the index behind it, or the length of the chunk. */
  read(bytes: Uint8Array, from: number): number {
    let at = from
    while (at < bytes.length && this.#state === 'open') {
      const byte = bytes[at] ?? 0
      if (this.#digits > 0) this.#hexDigit(byte)
      else if (this.#isEscape) this.#escape(byte)
      else if (byte === BACKSLASH) this.#isEscape = true
      else if (byte === QUOTE) this.#close()
      else if (byte < FIRST_PRINTABLE) this.#state = 'invalid'
      else {
        const end = plainEnd(bytes, at)
        this.#endSurrogate()
        this.#push(bytes.subarray(at, end))
        at = end
        continue
      }
      at++
    }
    return at
  }

  #close(): void {
    this.#endSurrogate()
    this.#flush()
    this.#state = 'closed'
  }

  #escape(byte: number): void {
    this.#isEscape = false
    if (byte === LETTER_U) {
      this.#digits = HEX_DIGITS
      this.#unit = 0
      return
    }
    const meant = ESCAPES.get(byte)
    if (meant === undefined) {
      this.#state = 'invalid'
      return
    }
    this.#endSurrogate()
    this.#pushPoint(meant)
  }

  #hexDigit(byte: number): void {
    const digit = hexValue(byte)
    if (digit === undefined) {
      this.#state = 'invalid'
      return
    }
    this.#unit = this.#unit * 16 + digit
    if (--this.#digits === 0) this.#codeUnit(this.#unit)
  }

  #codeUnit(unit: number): void {
    const isLow = unit >= 0xdc00 && unit <= 0xdfff
    if (this.#high !== undefined && isLow) {
      const point = 0x10000 + (this.#high - 0xd800) * 0x400 + (unit - 0xdc00)
      this.#high = undefined
      this.#pushPoint(point)
      return
    }
    this.#endSurrogate()
    if (unit >= 0xd800 && unit <= 0xdbff) this.#high = unit
    else this.#pushPoint(isLow ? REPLACEMENT : unit)
  }

  /** UTF-8 cannot represent half of a surrogate pair. */
  #endSurrogate(): void {
    if (this.#high === undefined) return
    this.#high = undefined
    this.#pushPoint(REPLACEMENT)
  }

  #push(bytes: Uint8Array): void {
    if (this.#size + bytes.length > BUFFER_BYTES) this.#flush()
    if (bytes.length > BUFFER_BYTES) {
      this.#write(bytes)
      return
    }
    this.#out.set(bytes, this.#size)
    this.#size += bytes.length
  }

  /** Encoded by hand: a `TextEncoder` call for each escape would dominate the cost of escaped text. */
  #pushPoint(point: number): void {
    if (this.#size + LONGEST > BUFFER_BYTES) this.#flush()
    const out = this.#out
    if (point < 0x80) {
      out[this.#size++] = point
      return
    }
    const more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3
    const mark = [0xc0, 0xe0, 0xf0][more - 1] ?? 0
    out[this.#size++] = mark | (point >> (6 * more))
    for (let left = more - 1; left >= 0; left--) out[this.#size++] = 0x80 | ((point >> (6 * left)) & 0x3f)
  }

  #flush(): void {
    if (this.#size > 0) this.#write(this.#out.subarray(0, this.#size))
    this.#size = 0
  }
}

/** The end of the bytes that need no decoding. */
function plainEnd(bytes: Uint8Array, from: number): number {
  let at = from
  for (; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    if (byte === QUOTE || byte === BACKSLASH || byte < FIRST_PRINTABLE) break
  }
  return at
}

function hexValue(byte: number): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : undefined
}
