/** Unchanged lines around a change. */
const CONTEXT = 3

/**
 * Returns the change between two texts as one hunk of a unified diff, from the first line that differs to the last.
 * Correct for every pair of texts, but not always minimal. Empty when nothing changed.
 */
export function lineDiff(before: string, after: string): string {
  if (before === after) return ''
  const old = linesOf(before)
  const now = linesOf(after)
  const shared = Math.min(old.length, now.length)
  let head = 0
  while (head < shared && old[head] === now[head]) head++
  let tail = 0
  while (tail < shared - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
  const from = Math.max(0, head - CONTEXT)
  const kept = Math.min(CONTEXT, tail)
  const removed = old.slice(head, old.length - tail)
  const added = now.slice(head, now.length - tail)
  const around = head - from + kept
  return [
    `@@ -${range(from, around + removed.length)} +${range(from, around + added.length)} @@\n`,
    ...marked(' ', old.slice(from, head)),
    ...marked('-', removed),
    ...marked('+', added),
    ...marked(' ', old.slice(old.length - tail, old.length - tail + kept)),
  ].join('')
}

/** Lines keep their newline, so that a last line without one differs from the same line with one. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/)
}

/** An empty range is numbered by the line before it, any other by its first line. */
function range(skipped: number, count: number): string {
  return `${count === 0 ? skipped : skipped + 1},${count}`
}

function marked(mark: string, lines: readonly string[]): string[] {
  return lines.map((line) =>
    line.endsWith('\n') ? `${mark}${line}` : `${mark}${line}\n\\ No newline at end of file\n`,
  )
}
