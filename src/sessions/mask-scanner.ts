import type { Matcher, Needle } from './matcher.ts'

/** A range of the scanned units, or the mark that replaces some. */
export type MaskedPiece = { from: number; to: number } | string

/** Units that one or more overlapping needles cover. Positions before 0 belong to units that were passed on. */
interface Run {
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
  #open: Run[] = []
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
    const runs = this.#open
    const { length } = units
    const found = (needle: Needle, end: number) => cover(runs, needle, end)
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
    for (const { start, end, mark } of runs) {
      if (end > final) break
      passTo(start)
      pieces.push(mark)
      cursor = end
      settled++
    }
    this.#open = runs.slice(settled)
    const [first] = this.#open
    passTo(Math.min(first?.start ?? final, final))
    // The covered units will be a mark, however far the run extends.
    if (first && first.start <= final) cursor = first.end
    for (const run of this.#open) {
      run.start -= cursor
      run.end -= cursor
    }
    this.#kept = length - cursor
    return pieces
  }
}

/** Adds an occurrence to the runs; the ones that it overlaps become one. Never ends the scan. */
function cover(runs: Run[], { units, mark }: Needle, end: number): false {
  const begin = end - units.length
  let start = begin
  for (let last = runs.at(-1); last && last.end > begin; last = runs.at(-1)) {
    start = Math.min(start, last.start)
    runs.pop()
  }
  runs.push({ start, end, mark: start === begin ? mark : `[masked ${end - start}]` })
  return false
}
