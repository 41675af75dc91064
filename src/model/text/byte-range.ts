/** A part of a blob: `end` is the first byte after it. */
export interface ByteRange {
  start: number
  end: number
}
