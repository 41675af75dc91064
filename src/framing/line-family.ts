/** Lines that differ in some plain strings and counts alone: the text between these, and a value to copy. */
interface Family {
  /** The first goes up to the first difference, each other one from the end of a difference to the next. */
  readonly between: readonly string[]
  readonly root: Branch
}

/** An object that has to be made anew for every line, because something in it differs. */
interface Branch {
  readonly sample: Container
  readonly leaves: { readonly key: string; readonly place: number }[]
  readonly branches: { readonly key: string; readonly branch: Branch }[]
}

type Container = { [key: string]: unknown }
type Leaf = string | number

/** Shorter lines are parsed as quickly, and longer ones are no pieces of a stream. */
const SHORTEST = 160
const LONGEST = 1024

/** How many characters siblings have in common at their beginning. */
const ALIKE = 12

/** A family that has ended is no longer asked. */
const MOST_STRANGERS = 4

/** Lines that pass between two attempts to find a family, where there seems to be none. */
const MOST_PATIENCE = 128

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
  /** Attempts since the last member: each makes the next one wait longer. */
  #attempts = 0

  /** Throws where `JSON.parse` does. */
  parse(text: string): unknown {
    if (text.length < SHORTEST || text.length > LONGEST) return JSON.parse(text)
    const member = this.#family && memberOf(this.#family, text)
    if (member) {
      this.#strangers = 0
      this.#attempts = 0
      return member
    }
    if (++this.#strangers > MOST_STRANGERS) this.#family = undefined
    const value: unknown = JSON.parse(text)
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
function memberOf({ between, root }: Family, text: string): Container | undefined {
  let before = between[0] ?? ''
  if (!has(text, before, 0)) return undefined
  const leaves: Leaf[] = []
  let at = before.length
  for (let place = 1; place < between.length; place++) {
    const quoted = before.endsWith('"')
    const end = quoted ? text.indexOf('"', at) : endOfDigits(text, at)
    before = between[place] ?? ''
    if (end < at || !has(text, before, end)) return undefined
    const leaf = quoted ? stringIn(text, at, end) : countIn(text, at, end)
    if (leaf === undefined) return undefined
    leaves.push(leaf)
    at = end + before.length
  }
  return at === text.length ? grow(root, leaves) : undefined
}

/** A comparison of slices goes by words of memory; `startsWith` by characters, and takes many times as long. */
function has(text: string, part: string, at: number): boolean {
  return text.slice(at, at + part.length) === part
}

/** The string between two quotes; nothing where it has escapes, or what JSON does not allow. */
function stringIn(text: string, from: number, to: number): string | undefined {
  const string = text.slice(from, to)
  if (string.includes('\\')) return undefined
  // Throws where the whole line would.
  if (string.length >= SHORTEST_VIEW) return JSON.parse(text.slice(from - 1, to + 1))
  for (let at = from; at < to; at++) if (text.charCodeAt(at) < 0x20) return undefined
  return string
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

/** What never differs is shared between the values of a family: nobody changes a native value. */
function grow({ sample, leaves, branches }: Branch, values: readonly Leaf[]): Container {
  const value = { ...sample }
  for (const { key, place } of leaves) value[key] = values[place]
  for (const { key, branch } of branches) value[key] = grow(branch, values)
  return value
}

/** What two lines have in common, if they differ in plain strings and counts alone. */
function familyOf(first: string, a: unknown, second: string, b: unknown): Family | undefined {
  // Most lines that are not alike show it at once.
  if (!has(second, first.slice(0, ALIKE), 0)) return undefined
  // Only in a text like this do keys come once each, and in the order of the object's own.
  if (JSON.stringify(a) !== first) return undefined
  const pairs: [Leaf, Leaf][] = []
  const root = branchOf(a, b, pairs)
  const between = root && pairs.length > 0 ? textBetween(first, second, pairs) : undefined
  return root && between && { between, root }
}

/**
 * Where two values differ, in pairs and in order; nothing when it is not only in strings and numbers. What the second
 * has and the first has not shows in their texts.
 */
function branchOf(a: unknown, b: unknown, pairs: [Leaf, Leaf][]): Branch | undefined {
  if (!isContainer(a) || !isContainer(b)) return undefined
  const branch: Branch = { sample: b, leaves: [], branches: [] }
  for (const [key, one] of Object.entries(a)) {
    const other = b[key]
    if (one === other) continue
    if (isLeaf(one) && isLeaf(other) && typeof one === typeof other) {
      branch.leaves.push({ key, place: pairs.push([one, other]) - 1 })
    } else if (isContainer(one)) {
      const before = pairs.length
      const below = branchOf(one, other, pairs)
      if (!below) return undefined
      if (pairs.length > before) branch.branches.push({ key, branch: below })
    } else if (JSON.stringify(one) !== JSON.stringify(other)) {
      return undefined
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
    let same = 0
    while (at + same < second.length && first[from + same] === second[at + same]) same++
    // They part inside the pair, or right behind the shorter one.
    const start = beginning(second, at + same, typeof other === 'string') - at
    if (start <= 0 || !has(first, String(one), from + start) || !has(second, String(other), at + start)) {
      return undefined
    }
    between.push(second.slice(at, at + start))
    from += start + String(one).length
    at += start + String(other).length
  }
  return first.slice(from) === second.slice(at) ? [...between, second.slice(at)] : undefined
}

/** Where the string or the number begins that this place is in. */
function beginning(text: string, place: number, quoted: boolean): number {
  if (quoted) return text.lastIndexOf('"', place - 1) + 1
  let at = place
  while (isDigit(text.charCodeAt(at - 1))) at--
  return at
}
