import { KnownIds } from '../model/known-ids.ts'

const ZERO = 48
const NINE = 57
/** Numbers below this are bits; 256 kB for all of them. */
const NUMBERS = 1024 * 1024
const DIGITS = 7
const WORD = 32
const WORD_BITS = 5
/** So many ids show how an agent names things. */
const FIRST = 32

/**
 * How often each id was used. Many agents number theirs (`item_17`), and a long session has hundreds of thousands of
 * them: numbers behind one prefix are bits and cost next to nothing. All others are remembered by name.
 */
export class IdCounts {
  /** Ids without a number, or behind another prefix. */
  readonly #named = new KnownIds()
  /** Of those that were used more than once. */
  readonly #uses = new Map<string, number>()
  #prefix: string | undefined
  /** As a plain list: most sessions have a handful of words, for which a typed one is a long way round. */
  readonly #bits: number[] = []
  /** Asked about several times in a row, and read once. */
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

  /** Counts one more use, and tells how many there were before. */
  add(id: string): number | undefined {
    if (this.#prefix === undefined && this.#named.size < FIRST) this.#choosePrefix(id)
    const number = this.#numberOf(id)
    if (number === -1 ? this.#named.add(id) : this.#set(number)) return undefined
    const uses = this.#uses.get(id) ?? 1
    this.#uses.set(id, uses + 1)
    return uses
  }

  /** The first that two ids share: one alone may have ended in digits by chance. */
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

  /** Its number behind the prefix, or -1. */
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
      // `7` and `07` are two ids.
      if (!isDigit(code) || (number === 0 && at > start)) return -1
      number = number * 10 + code - ZERO
    }
    return number < NUMBERS ? number : -1
  }

  #isSet(number: number): boolean {
    return ((this.#bits[number >>> WORD_BITS] ?? 0) & (1 << (number & (WORD - 1)))) !== 0
  }

  /** Tells whether it is new. */
  #set(number: number): boolean {
    if (this.#isSet(number)) return false
    const at = number >>> WORD_BITS
    while (this.#bits.length <= at) this.#bits.push(0)
    this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (number & (WORD - 1)))
    return true
  }
}

/** What comes before the number at the end of an id, if there is one. Leading zeros are no part of a number. */
function prefixOf(id: string): string | undefined {
  let start = id.length
  while (isDigit(id.charCodeAt(start - 1))) start--
  while (start < id.length - 1 && id.charCodeAt(start) === ZERO) start++
  return start < id.length ? id.slice(0, start) : undefined
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE
}
