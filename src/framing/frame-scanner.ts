import { JsonStringDecoder } from './json-string.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const SPACE = 0x20

/** A string with more encoded bytes is a large value. */
const LARGE_BYTES = 64 * 1024

/** The limit divided by this is the size from which a container is large. */
const PARTS = 16

/** Large values of one frame. Each has a writer until the frame ends; further strings count as structure. */
const MAX_VALUES = 256

/** `JSON.stringify` cannot write deeper values, so a deeper frame is not decoded either. */
const MAX_DEPTH = 512

/** Receives the text of a large string. */
export interface ValueTarget {
  write(chunk: Uint8Array): void
  discard(): void
}

interface Container {
  /** Where it begins in the skeleton. */
  start: number
  isObject: boolean
  expectsKey: boolean
}

/** A place of the skeleton where a value was left out; without a target, the value is a container. */
interface Gap<Target> {
  at: number
  target: Target | undefined
}

/** A frame without its large values. */
export interface Skeleton<Target> {
  /** The targets of the strings that were left out, in order. */
  readonly targets: readonly Target[]
  /** A container was left out as well. */
  readonly lacksStructure: boolean
  /** The JSON text with a string in place of each large value. */
  fill(texts: readonly string[], container: string): string
}

/**
 * Reads the JSON text of a frame that is too large for memory. Copies it except for large strings, which it decodes and
 * passes on. If the copy exceeds the limit, leaves out the innermost large container. The result does not depend on how
 * the bytes were chunked.
 */
export class FrameScanner<Target extends ValueTarget> {
  readonly #open: () => Target
  readonly #limit: number
  readonly #largeBytes: number
  #copy = new Uint8Array(1024)
  #size = 0
  readonly #stack: Container[] = []
  #gaps: Gap<Target>[] = []
  #mode: 'structure' | 'string' | 'large' | 'skip' | 'failed' = 'structure'
  /** Where the current string begins in the copy. */
  #stringStart = 0
  /** Inside a string: the last byte was a backslash. */
  #isEscape = false
  /** In a container that is left out: whether a string is open, and how many containers are. */
  #inString = false
  #skipped = 0
  #value: { target: Target; decoder: JsonStringDecoder } | undefined

  /** `open` returns the target of the next large string; `limit` is the largest size of the copy. */
  constructor(open: () => Target, limit: number) {
    this.#open = open
    this.#limit = limit
    this.#largeBytes = Math.min(LARGE_BYTES, Math.floor(limit / PARTS))
  }

  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.#mode === 'structure') at = this.#readStructure(bytes, at)
      else if (this.#mode === 'string') at = this.#readString(bytes, at)
      else if (this.#mode === 'large') at = this.#readLarge(bytes, at)
      else if (this.#mode === 'skip') at = this.#skip(bytes, at)
      else return
    }
  }

  /** Undefined if the text is not a JSON object or array, or if it exceeds the limit without its large values. */
  end(): Skeleton<Target> | undefined {
    if (this.#mode !== 'structure' || this.#stack.length > 0 || this.#size === 0) {
      this.#fail()
      return undefined
    }
    const [gaps, copy] = [this.#gaps, this.#copy.subarray(0, this.#size)]
    return {
      targets: gaps.flatMap(({ target }) => target ?? []),
      lacksStructure: gaps.some(({ target }) => target === undefined),
      fill: (texts, container) => fill(copy, gaps, texts, container),
    }
  }

  #readStructure(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0
      const top = this.#stack.at(-1)
      if (byte === QUOTE && top) {
        this.#stringStart = this.#size
        this.#isEscape = false
        this.#mode = 'string'
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        const isObject = byte === OPEN_OBJECT
        this.#stack.push({ start: this.#size, isObject, expectsKey: isObject })
        if (this.#stack.length > MAX_DEPTH) this.#fail()
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.#stack.pop()
      else if (byte === COMMA && top) top.expectsKey = top.isObject
      else if (byte === COLON && top) top.expectsKey = false
      // Text before the first container is not a frame.
      else if (byte > SPACE && !top) this.#fail()
      if (this.#mode === 'failed') return bytes.length
      this.#append(bytes, at, at + 1)
      if (this.#size > this.#limit) this.#leaveOut(this.#mode === 'string')
      if (this.#mode !== 'structure') return at + 1
    }
    return bytes.length
  }

  #readString(bytes: Uint8Array, from: number): number {
    const last = Math.min(bytes.length, from + this.#limit + 1 - this.#size)
    let end = from
    for (; end < last; end++) {
      const byte = bytes[end]
      if (this.#isEscape) this.#isEscape = false
      else if (byte === BACKSLASH) this.#isEscape = true
      else if (byte === QUOTE) break
    }
    const size = this.#size - this.#stringStart - 1 + end - from
    if (size > this.#largeBytes && this.#mayLeaveOut) {
      this.#beginLarge()
      return from
    }
    this.#append(bytes, from, end)
    if (end < last) {
      this.#append(bytes, end, end + 1)
      this.#mode = 'structure'
      return end + 1
    }
    if (this.#size > this.#limit) this.#leaveOut(true)
    return end
  }

  /** The name of a field is structure, whatever its size. */
  get #mayLeaveOut(): boolean {
    return this.#stack.at(-1)?.expectsKey !== true && this.#gaps.length < MAX_VALUES
  }

  #beginLarge(): void {
    const target = this.#open()
    const decoder = new JsonStringDecoder((text) => target.write(text))
    decoder.read(this.#copy.subarray(this.#stringStart + 1, this.#size), 0)
    this.#size = this.#stringStart
    this.#value = { target, decoder }
    this.#mode = 'large'
  }

  #readLarge(bytes: Uint8Array, from: number): number {
    const { target, decoder } = this.#value ?? {}
    if (!target || !decoder) return bytes.length
    const end = decoder.read(bytes, from)
    if (decoder.state === 'invalid') this.#fail()
    if (decoder.state !== 'closed') return end
    this.#gaps.push({ at: this.#size, target })
    this.#value = undefined
    this.#mode = 'structure'
    return end
  }

  /** Leaves out the innermost container that takes a large part of the limit. The frame itself cannot be left out. */
  #leaveOut(inString: boolean): void {
    const index = this.#stack.findLastIndex(({ start }) => this.#size - start >= this.#limit / PARTS)
    const container = this.#stack[index]
    if (!container || index === 0) {
      this.#fail()
      return
    }
    this.#size = container.start
    for (const { at, target } of this.#gaps) if (at > container.start) target?.discard()
    this.#gaps = this.#gaps.filter(({ at }) => at <= container.start)
    this.#gaps.push({ at: container.start, target: undefined })
    this.#skipped = this.#stack.length - index
    this.#stack.length = index
    this.#inString = inString
    this.#mode = 'skip'
  }

  #skip(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at]
      if (this.#inString) {
        if (this.#isEscape) this.#isEscape = false
        else if (byte === BACKSLASH) this.#isEscape = true
        else if (byte === QUOTE) this.#inString = false
      } else if (byte === QUOTE) this.#inString = true
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#skipped++
      else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        if (--this.#skipped > 0) continue
        this.#mode = 'structure'
        return at + 1
      }
    }
    return bytes.length
  }

  #fail(): void {
    this.#mode = 'failed'
    this.#value?.target.discard()
    for (const { target } of this.#gaps) target?.discard()
    this.#value = undefined
    this.#gaps = []
    this.#copy = new Uint8Array(0)
    this.#size = 0
  }

  #append(bytes: Uint8Array, from: number, to: number): void {
    const size = this.#size + to - from
    if (size > this.#copy.length) {
      const grown = new Uint8Array(Math.max(size, this.#copy.length * 2))
      grown.set(this.#copy.subarray(0, this.#size))
      this.#copy = grown
    }
    if (to === from + 1) this.#copy[this.#size] = bytes[from] ?? 0
    else this.#copy.set(bytes.subarray(from, to), this.#size)
    this.#size = size
  }
}

function fill<Target>(
  copy: Uint8Array,
  gaps: readonly Gap<Target>[],
  texts: readonly string[],
  container: string,
): string {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const values = texts.values()
  let text = ''
  let from = 0
  for (const { at, target } of gaps) {
    const value = target === undefined ? container : (values.next().value ?? container)
    text += decoder.decode(copy.subarray(from, at)) + JSON.stringify(value)
    from = at
  }
  return text + decoder.decode(copy.subarray(from))
}
