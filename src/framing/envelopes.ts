import { flat } from './flat.ts'
import type { Parser } from './parser.ts'

/** What stands around the last field of a line: `{"type":"item.completed","item":` … `}`. */
interface Envelope {
  readonly before: string
  /** The line without its last field, and the name of that. */
  readonly sample: Container
  readonly key: string
  readonly fill: Fill
}

type Container = { [key: string]: unknown }
type Fill = (sample: Container, key: string, inner: unknown) => Container

/** So many are known at once. */
const MOST = 8

/** Shorter ones are parsed as quickly as they are compared, and in longer ones there is something that differs. */
const SHORTEST = 24
const LONGEST = 96

/** Lines in a row that were in none of them: then they are forgotten, since comparing costs as well. */
const MOST_STRANGERS = 16

/** Lines that pass between two attempts to find one, where there seems to be none. */
const MOST_PATIENCE = 1024

const COLON = 0x3a
const BRACE = 0x7d

/**
 * Parses lines, as `JSON.parse` does. Many protocols put what they have to say into the last field of an object that is
 * otherwise one of a few: that object is known then, and only the field is parsed.
 */
export class Envelopes implements Parser {
  #known: Envelope[] = []
  #replaced = 0
  /** Lines since the last that was in one. */
  #strangers = 0
  #patience = 0
  /** Attempts that no line has made up for: each makes the next one wait longer. */
  #attempts = 0

  /** Throws where `JSON.parse` does. */
  parse(text: string): unknown {
    const envelope = this.#envelopeOf(text)
    if (!envelope) return this.#whole(text)
    const { before, sample, key, fill } = envelope
    const inner = parsed(text.slice(before.length, -1))
    if (inner === undefined) return this.#whole(text)
    this.#strangers = 0
    if (this.#attempts > 0) this.#attempts--
    return fill(sample, key, inner)
  }

  #envelopeOf(text: string): Envelope | undefined {
    for (const envelope of this.#known) {
      const { before } = envelope
      // Nearly all others show it here. What is left is compared as a slice, which goes by words of memory.
      if (text.charCodeAt(before.length - 1) !== COLON) continue
      // The end of a line may be far away in memory: it is looked at last.
      if (text.slice(0, before.length) === before && text.charCodeAt(text.length - 1) === BRACE)
        return envelope
    }
    return undefined
  }

  #whole(text: string): unknown {
    const value: unknown = JSON.parse(text)
    if (++this.#strangers > MOST_STRANGERS && this.#known.length > 0) this.#known = []
    if (--this.#patience <= 0) this.#learn(text, value)
    return value
  }

  #learn(text: string, value: unknown): void {
    this.#patience = Math.min(2 ** this.#attempts++, MOST_PATIENCE)
    const place = this.#known.length < MOST ? this.#known.length : this.#replaced++ % MOST
    const envelope = envelopeAround(text, value, FILLS[place] ?? fillAny)
    if (envelope) this.#known[place] = envelope
  }
}

/** Undefined, which no JSON is, where the text is none: it may be the rest of the field and another one. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * What stands around the last field of a line, if that field is an object and all others are strings. Numbers are times
 * and counts, which are other ones in the next line.
 */
function envelopeAround(text: string, value: unknown, fill: Fill): Envelope | undefined {
  if (!isContainer(value)) return undefined
  const keys = Object.keys(value)
  const key = keys.pop()
  if (key === undefined || key === '__proto__' || !isContainer(value[key])) return undefined
  if (!keys.every((other) => typeof value[other] === 'string')) return undefined
  // Without that field, which may be megabytes.
  const sample = fillAny(value, key, null)
  const before = flat(JSON.stringify(sample).slice(0, -'null}'.length))
  if (before.length < SHORTEST || before.length > LONGEST || !text.startsWith(before)) return undefined
  return { before, sample, key, fill }
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** One for each of the first: the engine learns what it copies by the place in the code. */
const FILLS: readonly Fill[] = [
  (sample, key, inner) => {
    const value = { ...sample }
    value[key] = inner
    return value
  },
  (sample, key, inner) => {
    const value = { ...sample }
    value[key] = inner
    return value
  },
  (sample, key, inner) => {
    const value = { ...sample }
    value[key] = inner
    return value
  },
]
const fillAny: Fill = (sample, key, inner) => {
  const value = { ...sample }
  value[key] = inner
  return value
}
