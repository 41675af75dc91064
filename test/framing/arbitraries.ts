import fc from 'fast-check'

/** Any sequence of UTF-16 code units, lone surrogates included. */
export const anyText = fc
  .array(fc.oneof(fc.nat({ max: 0x7f }), fc.nat({ max: 0xffff })), { maxLength: 24 })
  .map((units) => String.fromCharCode(...units))

/** Places for `cutAt`. */
export const cuts = fc.array(fc.nat({ max: 4096 }), { maxLength: 24 })

/** The same sequence in chunks, some of them empty. */
export function cutAt<T extends { length: number; slice(from: number, to?: number): T }>(
  whole: T,
  cuts: readonly number[],
): T[] {
  const places = cuts.map((cut) => cut % (whole.length + 1)).sort((a, b) => a - b)
  return [0, ...places].map((from, index) => whole.slice(from, places[index] ?? whole.length))
}
