import { KnownIds } from './known-ids.ts'

const ZERO = 48
const NINE = 57
/** Numbers below this are stored as bits, 256 kB for all of them. */
const NUMBERS = 1024 * 1024
const DIGITS = 7
const WORD = 32
const WORD_BITS = 5
/** The prefix of numbered ids is chosen among this many first ids. */
const FIRST = 32

/**
 * Counts the uses of each id. Many agents number their ids (`item_17`), and a long session has hundreds of thousands
 * of them: numbers after one common prefix are stored as bits, all other ids by name.
 */
export class IdCounts {
  /** Ids without a number or with another prefix. */
  readonly #named = new KnownIds()
  /** The uses of ids that were used more than once. */
  readonly #uses = new Map<string, number>()
  #prefix: string | undefined
  /** A plain array, because most sessions need a few words and a typed array is slow to create. */
  readonly #bits: number[] = []
  /** The last id and its number: codecs look up the same id several times in a row. */
  #last = ''
  #lastNumber = -1

  get(id: string): number | undefined {
    if (!this.has(id)) return undefined
    return this.#uses.size === 0 ? 1 : (this.#uses.get(id) ?? 1)
  }

  has(id: string): boolean {
    const number = this.#numberOf(id)
    return number === -1 ? this.#named.has(id) : this.#isSet(number)
  }

  /** Counts one more use and returns the uses before it. */
  add(id: string): number | undefined {
    if (this.#prefix === undefined && this.#named.size < FIRST) this.#choosePrefix(id)
    const number = this.#numberOf(id)
    if (number === -1 ? this.#named.add(id) : this.#set(number)) return undefined
    const uses = this.#uses.get(id) ?? 1
    this.#uses.set(id, uses + 1)
    return uses
  }

  /** Chooses the first prefix that two ids share, because a single id may end in digits by chance. */
  #choosePrefix(id: string): void {
    const prefix = prefixOf(id)
    if (prefix === undefined) return
    const alike = this.#named.values().filter((one) => prefixOf(one) === prefix)
    if (alike.length === 0) return
    this.#prefix = prefix
    this.#last = ''
    for (const one of alike) {
      const number = this.#numberOf(one)
      if (number !== -1) this.#set(number)
    }
  }

  /** The number after the prefix, or -1. */
  #numberOf(id: string): number {
    if (id !== this.#last) {
      this.#lastNumber = this.#read(id)
      this.#last = id
    }
    return this.#lastNumber
  }

  #read(id: string): number {
    const prefix = this.#prefix
    if (prefix === undefined || !id.startsWith(prefix)) return -1
    const start = prefix.length
    if (id.length === start || id.length > start + DIGITS) return -1
    let number = 0
    for (let at = start; at < id.length; at++) {
      const code = id.charCodeAt(at)
      // `7` and `07` are different ids.
      if (!isDigit(code) || (number === 0 && at > start)) return -1
      number = number * 10 + code - ZERO
    }
    return number < NUMBERS ? number : -1
  }

  #isSet(number: number): boolean {
    return ((this.#bits[number >>> WORD_BITS] ?? 0) & (1 << (number & (WORD - 1)))) !== 0
  }

  /** Returns whether the number is new. */
  #set(number: number): boolean {
    if (this.#isSet(number)) return false
    const at = number >>> WORD_BITS
    while (this.#bits.length <= at) this.#bits.push(0)
    this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (number & (WORD - 1)))
    return true
  }
}

/** The part before the number at the end of an id; undefined without a number. Leading zeros belong to the prefix. */
function prefixOf(id: string): string | undefined {
  let start = id.length
  while (isDigit(id.charCodeAt(start - 1))) start--
  while (start < id.length - 1 && id.charCodeAt(start) === ZERO) start++
  return start < id.length ? id.slice(0, start) : undefined
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE
}
