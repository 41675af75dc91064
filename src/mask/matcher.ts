/** A secret as a sequence of units: UTF-16 code units of a text, or bytes of a blob. */
export interface Needle {
  units: ArrayLike<number>
  /** Replaces the needle. */
  mark: string
  /** An unfinished occurrence is held back until the next units decide whether it is one. */
  held: boolean
}

/** Called with a needle and the place behind its last unit; true ends the scan. */
type Found = (needle: Needle, end: number) => boolean

const NONE = -1

/**
 * An Aho-Corasick automaton: finds every occurrence of every needle in one pass, in time linear in the input and
 * independent of the number of needles. A state costs 16 bytes, because most states have a single child, which is
 * the next state.
 */
export class Matcher {
  readonly needles: readonly Needle[]
  /** The states of the units that begin a needle: a scan is in state 0 most of the time. */
  readonly #first = new Int32Array(256).fill(NONE)
  /** The unit that leads from a state to the next state number; `NONE` where there is no such edge. */
  readonly #edge: Int32Array
  /** Every other edge, by state. */
  readonly #branches = new Map<number, Map<number, number>>()
  /** The state of the longest proper suffix. */
  readonly #fail: Int32Array
  readonly #found: Int32Array
  readonly #held: Int32Array
  #states = 1

  constructor(needles: readonly Needle[]) {
    this.needles = needles
    const most = needles.reduce((sum, { units }) => sum + units.length, 1)
    this.#edge = new Int32Array(most).fill(NONE)
    this.#fail = new Int32Array(most)
    this.#found = new Int32Array(most).fill(NONE)
    this.#held = new Int32Array(most)
    for (const [index, needle] of needles.entries()) this.#insert(needle, index)
    this.#link()
  }

  /** The state after one more unit; a scan starts in state 0. */
  #next(state: number, unit: number): number {
    let from = state
    for (;;) {
      if (from !== 0 && this.#edge[from] === unit) return from + 1
      const child = this.#child(from, unit)
      if (child !== NONE) return child
      if (from === 0) return 0
      from = this.#fail[from] ?? 0
    }
  }

  /** Scans units from a place on; `found` gets the longest needle that ends at each place, and stops the scan with true. */
  scanText(text: string, from: number, before: number, found: Found): number {
    const [first, ends] = [this.#first, this.#found]
    let state = before
    for (let at = from; at < text.length; at++) {
      const unit = text.charCodeAt(at)
      // Most units begin nothing: these two lookups are almost the whole cost of a scan.
      if (state === 0 && unit < first.length && first[unit] === NONE) continue
      state = this.#next(state, unit)
      const end = ends[state] ?? NONE
      if (end !== NONE && found(this.#needle(end), at + 1)) break
    }
    return state
  }

  /** The same for bytes. A separate loop, because one loop for both kinds would be several times slower. */
  scanBytes(bytes: Uint8Array, from: number, before: number, found: Found): number {
    const [first, ends] = [this.#first, this.#found]
    let state = before
    for (let at = from; at < bytes.length; at++) {
      const unit = bytes[at] ?? 0
      if (state === 0 && first[unit] === NONE) continue
      state = this.#next(state, unit)
      const end = ends[state] ?? NONE
      if (end !== NONE && found(this.#needle(end), at + 1)) break
    }
    return state
  }

  /** How many of the last units may begin a needle that is held back. */
  held(state: number): number {
    return this.#at(this.#held, state)
  }

  #needle(index: number): Needle {
    const needle = this.needles[index]
    if (!needle) throw new RangeError(`there is no needle ${index}`)
    return needle
  }

  #insert({ units, held }: Needle, index: number): void {
    let state = 0
    for (let at = 0; at < units.length; at++) {
      // Only a proper prefix is unfinished; longer needles mark the end of this one as well.
      if (held && at > 0) this.#held[state] = at
      const unit = units[at] ?? NONE
      const child = this.#child(state, unit)
      state = child === NONE ? this.#grow(state, unit) : child
    }
    this.#found[state] = index
  }

  #grow(state: number, unit: number): number {
    const child = this.#states++
    if (state === 0 && unit < this.#first.length) this.#first[unit] = child
    else if (child === state + 1) this.#edge[state] = unit
    else {
      const branches = this.#branches.get(state) ?? new Map<number, number>()
      this.#branches.set(state, branches.set(unit, child))
    }
    return child
  }

  /** Sets the suffix of every state, shortest first, and with it what the suffix has found or holds. */
  #link(): void {
    const queue: number[] = [0]
    for (let at = 0; at < queue.length; at++) {
      const state = queue[at] ?? 0
      for (const [unit, child] of this.#children(state)) {
        queue.push(child)
        const fail = state === 0 ? 0 : this.#next(this.#at(this.#fail, state), unit)
        this.#fail[child] = fail
        if (this.#at(this.#found, child) === NONE) this.#found[child] = this.#at(this.#found, fail)
        if (this.#at(this.#held, child) === 0) this.#held[child] = this.#at(this.#held, fail)
      }
    }
  }

  *#children(state: number): Generator<readonly [unit: number, child: number]> {
    if (state === 0) {
      for (const [unit, child] of this.#first.entries()) if (child !== NONE) yield [unit, child]
    }
    const unit = this.#at(this.#edge, state)
    if (unit !== NONE) yield [unit, state + 1]
    yield* this.#branches.get(state) ?? []
  }

  #child(state: number, unit: number): number {
    if (state === 0 && unit < this.#first.length) return this.#at(this.#first, unit)
    if (this.#edge[state] === unit) return state + 1
    return this.#branches.size === 0 ? NONE : (this.#branches.get(state)?.get(unit) ?? NONE)
  }

  #at(table: Int32Array, state: number): number {
    return table[state] ?? NONE
  }
}
