import { crc32 } from 'node:zlib'

/** An odd factor, so that each step maps different numbers to different results. */
const FACTOR = 0x9e3779b1
const HIGH = 2 ** 32

/**
 * The checksum of a row: CRC-32 of its texts or bytes, started from its numbers. It covers every column that is read,
 * so a flipped bit in any of them changes the result.
 */
export function checksum(numbers: readonly number[], ...bodies: readonly (string | Uint8Array)[]): number {
  let sum = 0
  for (const number of numbers) {
    sum = Math.imul(sum ^ number, FACTOR)
    sum = Math.imul(sum ^ Math.floor(number / HIGH), FACTOR)
  }
  sum >>>= 0
  for (const body of bodies) sum = crc32(body, sum)
  return sum
}

/** Rows of older versions have no checksum and are accepted. */
export function matches(stored: unknown, computed: () => number): boolean {
  return stored === null || stored === computed()
}
