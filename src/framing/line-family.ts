import { flat } from './flat.ts'
import type { Parser } from './parser.ts'

/** Lines that differ in some plain strings and counts alone: the text between these, and a value to copy. */
interface Family {
  /** The first goes up to the first difference, each other one from the end of a difference to the next. */
  readonly between: readonly string[]
  /** Which of the differences are strings. */
  readonly quoted: readonly boolean[]
  /** The differences of the line that is being read. */
  readonly leaves: Leaf[]
  readonly root: Branch
  /** Has several long strings: these are cut from a copy of the line then, which costs less than copying each. */
  readonly viewed: boolean
}

/** An object that has to be made anew for every line, because something in it differs. */
interface Branch {
  readonly sample: Container
  readonly copy: (sample: Container) => Container
  readonly leaves: { readonly key: string; readonly place: number }[]
  readonly branches: { readonly key: string; readonly branch: Branch }[]
}

type Container = { [key: string]: unknown }
type Leaf = string | number

/** Shorter lines are parsed as quickly, and longer ones are no pieces of a stream. */
const SHORTEST = 96
const LONGEST = 1024

/** How many characters siblings have in common at their beginning: the first key, which an id may follow. */
const ALIKE = 6

/** And how many for each difference: taking a string out of a line costs as much as parsing so many. */
const SHARED = 32

/** The part of a line that has to be known, for there to be much that need not be parsed. */
const KNOWN = 1 / 2

/** Where its strings are cut from a copy, for there to be anything. */
const KNOWN_AROUND_VIEWS = 1 / 5

/** A family that has ended is no longer asked. */
const MOST_STRANGERS = 4

/** Lines that pass between two attempts to find a family, where there seems to be none. */
const MOST_PATIENCE = 1024

const BACKSLASH = 0x5c

/** No string of JSON has them as they are. */
const CONTROL = /[\0-\x1f]/

/** Characters that are compared at once. */
const BLOCK = 32

/** V8 copies slices that are shorter; a longer one would keep the whole chunk in memory that it was read with. */
const SHORTEST_VIEW = 13

/**
 * Parses the lines of one stream, as `JSON.parse` does. An answer comes in hundreds of lines that differ in a piece
 * of text, an id and a time: what such a line is, is known from two others, and taking these out of it costs half of
 * parsing all of it.
 */
export class LineFamily {
  #family: Family | undefined
  /** Lines since the last member. */
  #strangers = 0
  /** The last line that was no member, until it is known whether the next one is its sibling. */
  #last: { text: string; value: unknown } | undefined
  #patience = 0
  /** Attempts that no member has made up for: each makes the next one wait longer. */
  #attempts = 0

  readonly #others: Parser

  /** Lines that are no members are parsed by another one. */
  constructor(others: Parser = JSON) {
    this.#others = others
  }

  /** Throws where `JSON.parse` does. */
  parse(text: string): unknown {
    if (text.length < SHORTEST || text.length > LONGEST) return this.#others.parse(text)
    const member = this.#family && memberOf(this.#family, text)
    if (member) {
      this.#strangers = 0
      if (this.#attempts > 0) this.#attempts--
      return member
    }
    if (++this.#strangers > MOST_STRANGERS) this.#family = undefined
    const value = this.#others.parse(text)
    if (--this.#patience <= 0) this.#learn(text, value)
    return value
  }

  #learn(text: string, value: unknown): void {
    const last = this.#last
    this.#last = last ? undefined : { text, value }
    if (!last) return
    this.#patience = Math.min(2 ** this.#attempts++, MOST_PATIENCE)
    const family = familyOf(last.text, last.value, text, value)
    if (!family) return
    this.#family = family
    this.#strangers = 0
  }
}

/** The value of a line, if it belongs to the family. */
function memberOf(family: Family, text: string): Container | undefined {
  const { between, quoted, leaves, root, viewed } = family
  let before = between[0] ?? ''
  if (!has(text, before, 0)) return undefined
  let at = before.length
  const copy = viewed && isPlainLine(text) ? copyOf(text) : undefined
  for (let place = 1; place < between.length; place++) {
    const isString = quoted[place - 1]
    const end = isString ? endOfString(text, at) : endOfDigits(text, at)
    before = between[place] ?? ''
    if (end < at || !has(text, before, end)) return undefined
    const leaf = isString ? stringIn(text, at, end, copy) : countIn(text, at, end)
    if (leaf === undefined) return undefined
    leaves[place - 1] = leaf
    at = end + before.length
  }
  return at === text.length ? grow(root, leaves) : undefined
}

/** A comparison of slices goes by words of memory; `startsWith` by characters, and takes many times as long. */
function has(text: string, part: string, at: number): boolean {
  return text.slice(at, at + part.length) === part
}

/** The first quote that is not escaped. */
function endOfString(text: string, from: number): number {
  let end = text.indexOf('"', from)
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end
}

function isEscaped(text: string, place: number): boolean {
  let before = place
  while (text.charCodeAt(before - 1) === BACKSLASH) before--
  return (place - before) % 2 === 1
}

/** The string between two quotes. Throws where the whole line would. */
function stringIn(text: string, from: number, to: number, copy: string | undefined): string {
  if (copy !== undefined) return copy.slice(from + 1, to + 1)
  if (to - from < SHORTEST_VIEW && isPlain(text, from, to)) return text.slice(from, to)
  return JSON.parse(text.slice(from - 1, to + 1))
}

/** Has nothing in it that is written otherwise than it is read. */
function isPlainLine(text: string): boolean {
  return !text.includes('\\') && !CONTROL.test(text)
}

/** The line behind one more character, as a string of its own: what is cut from it keeps this line and no more. */
function copyOf(text: string): string {
  return ` ${text}`
}

function isPlain(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x20 || code === BACKSLASH) return false
  }
  return true
}

/** Digits that JSON takes for a number: a zero is not followed by more. */
function countIn(text: string, from: number, to: number): number | undefined {
  const isCount = to - from === 1 || (to > from && text.charCodeAt(from) !== 0x30)
  return isCount ? Number(text.slice(from, to)) : undefined
}

function endOfDigits(text: string, from: number): number {
  let at = from
  while (isDigit(text.charCodeAt(at))) at++
  return at
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** One for each depth: the engine learns what it copies by the place in the code, and few shapes come at one depth. */
const COPIES: readonly Branch['copy'][] = [
  (sample) => ({ ...sample }),
  (sample) => ({ ...sample }),
  (sample) => ({ ...sample }),
  (sample) => ({ ...sample }),
]
const copyAny: Branch['copy'] = (sample) => ({ ...sample })

/** What never differs is shared between the values of a family: nobody changes a native value. */
function grow({ sample, copy, leaves, branches }: Branch, values: readonly Leaf[]): Container {
  const value = copy(sample)
  for (const { key, place } of leaves) value[key] = values[place]
  for (const { key, branch } of branches) value[key] = grow(branch, values)
  return value
}

/** What two lines have in common, if they differ in plain strings and counts alone. */
function familyOf(first: string, a: unknown, second: string, b: unknown): Family | undefined {
  // Most lines that are not alike show it at once.
  if (!has(second, first.slice(0, ALIKE), 0)) return undefined
  const pairs: [Leaf, Leaf][] = []
  const root = branchOf(a, b, pairs)
  const leaves = pairs.map(([, leaf]) => leaf)
  const viewed = leaves.filter(isLongString).length > 1
  if (!root || !isWorthwhile(second, leaves, viewed ? KNOWN_AROUND_VIEWS : KNOWN)) return undefined
  // Only in a text like this do keys come once each, and in the order of the object's own.
  if (JSON.stringify(a) !== first) return undefined
  const between = textBetween(first, second, pairs)
  if (!between) return undefined
  return { between, quoted: leaves.map((leaf) => typeof leaf === 'string'), leaves, root, viewed }
}

function isLongString(leaf: Leaf): boolean {
  return typeof leaf === 'string' && leaf.length >= SHORTEST_VIEW
}

/** Is there much around the differences? */
function isWorthwhile(text: string, leaves: readonly Leaf[], known: number): boolean {
  let shared = text.length
  for (const leaf of leaves) shared -= String(leaf).length
  return leaves.length > 0 && shared >= SHARED * leaves.length && shared >= text.length * known
}

/**
 * Where the strings and numbers of two values differ, in pairs and in order; nothing where one has an object and the
 * other has not. Whatever else differs shows in their texts.
 */
function branchOf(a: unknown, b: unknown, pairs: [Leaf, Leaf][], depth = 0): Branch | undefined {
  if (!isContainer(a) || !isContainer(b)) return undefined
  const branch: Branch = { sample: b, copy: COPIES[depth] ?? copyAny, leaves: [], branches: [] }
  for (const [key, one] of Object.entries(a)) {
    const other = b[key]
    if (one === other) continue
    if (isLeaf(one) && isLeaf(other)) {
      branch.leaves.push({ key, place: pairs.push([one, other]) - 1 })
    } else if (isContainer(one)) {
      const before = pairs.length
      const below = branchOf(one, other, pairs, depth + 1)
      if (!below) return undefined
      if (pairs.length > before) branch.branches.push({ key, branch: below })
    }
  }
  return branch
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isLeaf(value: unknown): value is Leaf {
  return typeof value === 'string' || typeof value === 'number'
}

/** The text around the pairs; nothing when it differs as well. */
function textBetween(first: string, second: string, pairs: readonly [Leaf, Leaf][]): string[] | undefined {
  const between: string[] = []
  let [from, at] = [0, 0]
  for (const [one, other] of pairs) {
    const same = sameLength(first, from, second, at)
    // They part inside the pair, or right behind the shorter one.
    const start = beginning(second, at + same, typeof other === 'string') - at
    const [a, b] = [written(one), written(other)]
    if (start <= 0 || !has(first, a, from + start) || !has(second, b, at + start)) return undefined
    between.push(flat(second.slice(at, at + start)))
    from += start + a.length
    at += start + b.length
  }
  return first.slice(from) === second.slice(at) ? [...between, flat(second.slice(at))] : undefined
}

/** How far two texts agree, by blocks first: see `has`. */
function sameLength(first: string, from: number, second: string, at: number): number {
  let same = 0
  while (
    at + same + BLOCK <= second.length &&
    has(first, second.slice(at + same, at + same + BLOCK), from + same)
  ) {
    same += BLOCK
  }
  while (at + same < second.length && first[from + same] === second[at + same]) same++
  return same
}

/** As it stands in a line, without its quotes. */
function written(leaf: Leaf): string {
  return typeof leaf === 'string' ? JSON.stringify(leaf).slice(1, -1) : String(leaf)
}

/** Where the string or the number begins that this place is in. */
function beginning(text: string, place: number, quoted: boolean): number {
  if (quoted) return text.lastIndexOf('"', place - 1) + 1
  let at = place
  while (isDigit(text.charCodeAt(at - 1))) at--
  return at
}
