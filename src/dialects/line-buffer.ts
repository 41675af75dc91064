/** Lines kept back until the end, bounded: the newest are kept, and how many had to go is told. */
export interface HeldLines {
  readonly lines: string[]
  size: number
  left: number
}

/** In characters: what one reader may cost. The log has every line. */
const LIMIT = 256 * 1024

/** So that a flood of empty lines is bounded too. */
const LINE_COST = 64

export function newHeldLines(): HeldLines {
  return { lines: [], size: 0, left: 0 }
}

export function holdLine(held: HeldLines, line: string): void {
  held.lines.push(line)
  held.size += line.length + LINE_COST
  while (held.size > LIMIT && held.lines.length > 1) {
    held.size -= (held.lines.shift()?.length ?? 0) + LINE_COST
    held.left++
  }
}

export function releaseLines(held: HeldLines): readonly string[] {
  return held.left === 0 ? held.lines : [`[${held.left} earlier lines are in the log]`, ...held.lines]
}
