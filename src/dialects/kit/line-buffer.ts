/** Lines buffered until the end, bounded: keeps the newest lines and counts the dropped ones. */
export interface LineBuffer {
  readonly lines: string[]
  size: number
  dropped: number
}

/** Maximum number of characters per subscriber. The log has every line. */
const LIMIT = 256 * 1024

/** Cost per line, so that many empty lines are bounded too. */
const LINE_COST = 64

export function newLineBuffer(): LineBuffer {
  return { lines: [], size: 0, dropped: 0 }
}

export function bufferLine(buffer: LineBuffer, line: string): void {
  buffer.lines.push(line)
  buffer.size += line.length + LINE_COST
  while (buffer.size > LIMIT && buffer.lines.length > 1) {
    buffer.size -= (buffer.lines.shift()?.length ?? 0) + LINE_COST
    buffer.dropped++
  }
}
