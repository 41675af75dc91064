import { getHeapStatistics } from 'node:v8'

/**
 * The number of bytes that clients may hold in memory: log segments and pages while they are read, and request bodies
 * while they arrive. Each byte of text is in memory
 * several times: as stored text, as an entry, as a message and as the text that is sent.
 */
export function readMemory(heapBytes = getHeapStatistics().heap_size_limit): {
  pieces: number
  pages: number
  uploads: number
} {
  return {
    pieces: Math.floor(heapBytes / 6),
    pages: Math.floor(heapBytes / 12),
    uploads: Math.floor(heapBytes / 16),
  }
}
