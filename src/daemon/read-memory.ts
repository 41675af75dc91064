import { getHeapStatistics } from 'node:v8'

/**
 * How many bytes of logs readers may hold together, in pieces and in pages. A byte of text is in memory several times
 * while it is read: as stored text, as an entry, as a message and as the text that is sent.
 */
export function readMemory(heapBytes = getHeapStatistics().heap_size_limit): {
  pieces: number
  pages: number
} {
  return { pieces: Math.floor(heapBytes / 6), pages: Math.floor(heapBytes / 12) }
}
