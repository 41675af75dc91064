import { getHeapStatistics } from 'node:v8'

/**
 * The number of log bytes that subscribers may hold in memory, in segments and in pages. Each byte of text is in memory
 * several times: as stored text, as an entry, as a message and as the text that is sent.
 */
export function readMemory(heapBytes = getHeapStatistics().heap_size_limit): {
  pieces: number
  pages: number
} {
  return { pieces: Math.floor(heapBytes / 6), pages: Math.floor(heapBytes / 12) }
}
