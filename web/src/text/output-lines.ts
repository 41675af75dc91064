/** Longer lines are shown in pieces, so that one line of megabytes does not block the page. */
const PIECE = 4_000

/** Lines and characters that are shown at once: a browser lays out this much without a pause. */
const AT_ONCE = { lines: 400, characters: 24_000 }

/** A piece of an output: a line, or a part of a very long one. */
export interface OutputPiece {
  text: string
  /** The number of its line, from 1. */
  line: number
  endsLine: boolean
}

/** The pieces of an output as a terminal shows it: a carriage return starts its line again. */
export function piecesOf(output: string): OutputPiece[] {
  const lines = output.replaceAll('\r\n', '\n').split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.flatMap((whole, index): OutputPiece | OutputPiece[] => {
    const text = lastWritten(whole)
    if (text.length <= PIECE) return { text, line: index + 1, endsLine: true }
    const count = Math.ceil(text.length / PIECE)
    return Array.from({ length: count }, (_, part) => ({
      text: text.slice(part * PIECE, (part + 1) * PIECE),
      line: index + 1,
      endsLine: part === count - 1,
    }))
  })
}

function lastWritten(line: string): string {
  if (!line.includes('\r')) return line
  const written = line.replace(/\r+$/, '')
  return written.slice(written.lastIndexOf('\r') + 1)
}

/** The pieces before `end` that fit on the screen at once; at least one. */
export function startBefore(pieces: readonly OutputPiece[], end: number): number {
  let start = end
  for (let characters = 0; start > 0 && end - start < AT_ONCE.lines; start--) {
    characters += pieces[start - 1]?.text.length ?? 0
    if (characters > AT_ONCE.characters && start < end) break
  }
  return start
}

/** The end of the pieces from `start` on that fit at once. */
export function endAfter(pieces: readonly OutputPiece[], start: number): number {
  let end = start
  for (let characters = 0; end < pieces.length && end - start < AT_ONCE.lines; end++) {
    characters += pieces[end]?.text.length ?? 0
    if (characters > AT_ONCE.characters && end > start) break
  }
  return end
}

/** Escape sequences of terminals. */
export const SEQUENCE = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g

/** The places of the pieces that contain a text, whatever its case. */
export function placesOf(pieces: readonly OutputPiece[], words: string): number[] {
  const wanted = words.toLowerCase()
  if (wanted === '') return []
  return pieces.flatMap(({ text }, index) =>
    text.replaceAll(SEQUENCE, '').toLowerCase().includes(wanted) ? [index] : [],
  )
}
