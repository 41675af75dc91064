import type { Matcher, Needle } from './matcher.ts'

/** A range of the scanned units, or the mark that replaces some. */
export type MaskedPiece = { from: number; to: number } | string

/** Units that one or more overlapping needles cover. Positions before 0 belong to units that were passed on. */
interface MaskedRange {
  start: number
  end: number
  mark: string
}

/**
 * Masks units that arrive in pieces, each unit scanned once. The caller keeps the last `kept` units of every call and
 * passes them again in front of the next ones; they are at most as many as the longest needle has.
 */
export class MaskScanner {
  readonly #matcher: Matcher
  #state = 0
  /** Runs that the next units may extend. */
  #open: MaskedRange[] = []
  #kept = 0

  constructor(matcher: Matcher) {
    this.#matcher = matcher
  }

  /** How many units of the last call the caller passes again. */
  get kept(): number {
    return this.#kept
  }

  /** False when forgetting this scanner would change nothing. */
  get isMidway(): boolean {
    return this.#state !== 0 || this.#open.length > 0 || this.#kept > 0
  }

  /** Scans `units` and returns the part of them that later units cannot change; everything if these are the last. */
  scan(units: string | Uint8Array, isLast: boolean): MaskedPiece[] {
    const ranges = this.#open
    const { length } = units
    const found = (needle: Needle, end: number) => cover(ranges, needle, end)
    this.#state =
      typeof units === 'string'
        ? this.#matcher.scanText(units, this.#kept, this.#state, found)
        : this.#matcher.scanBytes(units, this.#kept, this.#state, found)
    const final = isLast ? length : length - this.#matcher.held(this.#state)
    const pieces: MaskedPiece[] = []
    let cursor = 0
    const passTo = (to: number) => {
      if (to > cursor) pieces.push({ from: cursor, to })
      cursor = Math.max(cursor, to)
    }
    let settled = 0
    for (const { start, end, mark } of ranges) {
      if (end > final) break
      passTo(start)
      pieces.push(mark)
      cursor = end
      settled++
    }
    this.#open = ranges.slice(settled)
    const [first] = this.#open
    passTo(Math.min(first?.start ?? final, final))
    // The covered units will be a mark, however far the range extends.
    if (first && first.start <= final) cursor = first.end
    for (const range of this.#open) {
      range.start -= cursor
      range.end -= cursor
    }
    this.#kept = length - cursor
    return pieces
  }
}

/** Adds an occurrence to the ranges; the ones that it overlaps become one. Never ends the scan. */
function cover(ranges: MaskedRange[], { units, mark }: Needle, end: number): false {
  const begin = end - units.length
  let start = begin
  for (let last = ranges.at(-1); last && last.end > begin; last = ranges.at(-1)) {
    start = Math.min(start, last.start)
    ranges.pop()
  }
  ranges.push({ start, end, mark: start === begin ? mark : `[masked ${end - start}]` })
  return false
}
