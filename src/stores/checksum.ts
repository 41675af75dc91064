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

/** The rows that were read as one text: for each its number, its checksum (-1 for none) and its length in bytes. */
export const headsOf = (number: string) =>
  `group_concat(${number} || ',' || coalesce(sum, -1) || ',' || octet_length(body)) AS heads`

const HEAD_NUMBERS = 3

/** Splits concatenated rows, `between` bytes apart. Returns the first that does not match its checksum. */
export function firstDamaged(
  body: Uint8Array,
  heads: string,
  between: number,
  numbersOf: (number: number, before: number | undefined) => readonly number[],
): { number: number; before: number | undefined } | undefined {
  const rows: number[] = JSON.parse(`[${heads}]`)
  let [at, before]: [number, number | undefined] = [0, undefined]
  for (let index = 0; index < rows.length; index += HEAD_NUMBERS) {
    const [number = 0, sum, bytes = 0] = [rows[index], rows[index + 1], rows[index + 2]]
    const piece = body.subarray(at, at + bytes)
    if (sum !== -1 && sum !== checksum(numbersOf(number, before), piece)) return { number, before }
    at += bytes + between
    before = number
  }
  return at === body.length + between ? undefined : { number: before ?? 0, before }
}
