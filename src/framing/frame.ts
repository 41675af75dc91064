import type { BlobRef } from '../model/index.ts'
import { Envelopes } from './envelopes.ts'
import { LineFamily } from './line-family.ts'
import type { Parser } from './parser.ts'

export type FrameStream = 'stdout' | 'stderr' | 'rpc' | 'sse' | 'http'

/** One unit cut from an agent's bytes. */
export interface Frame {
  readonly stream: FrameStream
  /** The frame as it was written; empty when it went into a blob. */
  readonly text: string
  /** The parsed JSON, absent when the text is not JSON (or nested beyond reason). */
  readonly value?: unknown
  /** A line over the size limit: its bytes are here and nowhere else. */
  readonly blob?: BlobRef
}

/** Deeper values parse but cannot be written again: `JSON.stringify` overflows the stack. */
const MAX_DEPTH = 512

/** Nesting costs at least two characters a level, so short texts need no look. */
const SHALLOW_LENGTH = MAX_DEPTH * 2

/** So many lines are parsed in a row, if they are there. */
const AHEAD = 32

/** Text that is not JSON, or too deep to be stored, has no value. */
export function jsonFrame(stream: FrameStream, text: string): Frame {
  return new Run(JSON).add(stream, text)
}

/** The same for one whose value is looked at before the codec does, and is not to be parsed again. */
export function parsedFrame(stream: FrameStream, text: string): Frame {
  return { stream, text, value: parsed(text, JSON) }
}

/** The same for the lines of one stream, of which most resemble the one before. */
export function jsonFrames(stream: FrameStream): (text: string) => Frame {
  const family = new LineFamily(new Envelopes())
  let run = new Run(family)
  return (text) => {
    if (run.isOver) run = new Run(family)
    return run.add(stream, text)
  }
}

/** Not looked at, or already: what a frame holds then. */
const NOTHING = Symbol('nothing')

/**
 * Parsed when it is looked at, and not kept: frames wait in batches, and parsed values that wait with them are what
 * garbage collection costs. Whoever needs the value twice keeps it.
 */
class JsonFrame implements Frame {
  readonly stream: FrameStream
  readonly text: string
  readonly #run: Run
  #value: unknown = NOTHING

  constructor(stream: FrameStream, text: string, run: Run) {
    this.stream = stream
    this.text = text
    this.#run = run
  }

  get value(): unknown {
    if (this.#value === NOTHING) this.#run.parse()
    // Looked at for a second time.
    if (this.#value === NOTHING) this.parse(this.#run.parser)
    const value = this.#value
    this.#value = NOTHING
    return value
  }

  parse(parser: Parser): void {
    this.#value = parsed(this.text, parser)
  }
}

/**
 * A few lines that came together. Looking at one parses all: a processor that parses in a row, and then does with the
 * values what is to be done, has the program for either at hand, which is worth a tenth of all the time for a line.
 */
class Run {
  readonly parser: Parser
  /** Nothing can be added any more. */
  isOver = false
  #frames: JsonFrame[] = []

  constructor(parser: Parser) {
    this.parser = parser
  }

  add(stream: FrameStream, text: string): JsonFrame {
    const frame = new JsonFrame(stream, text, this)
    this.isOver = this.#frames.push(frame) === AHEAD
    return frame
  }

  parse(): void {
    const frames = this.#frames
    this.#frames = []
    this.isOver = true
    for (const frame of frames) frame.parse(this.parser)
  }
}

function parsed(text: string, parser: Parser): unknown {
  try {
    const value = parser.parse(text)
    if (text.length <= SHALLOW_LENGTH || typeof value !== 'object' || value === null) return value
    return isDeeperThan(value, MAX_DEPTH) ? undefined : value
  } catch {
    return undefined
  }
}

/** Called for objects alone, and only once for each: this runs over every long frame. */
function isDeeperThan(value: object, levels: number): boolean {
  if (levels === 0) return true
  if (Array.isArray(value)) {
    for (const child of value) {
      if (typeof child === 'object' && child !== null && isDeeperThan(child, levels - 1)) return true
    }
    return false
  }
  const fields = value as Readonly<Record<string, unknown>>
  for (const key in fields) {
    const child = fields[key]
    if (typeof child === 'object' && child !== null && isDeeperThan(child, levels - 1)) return true
  }
  return false
}
