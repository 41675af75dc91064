import { createHash } from 'node:crypto'

/** With `CI_LONG=1` the tests search as long as they can; without it each search is short. */
const isLong = process.env.CI_LONG === '1'

/** How many cases a search tries: `usual` in each run of the tests, `long` with `CI_LONG=1`. */
export const runs = (usual: number, long: number): number => (isLong ? long : usual)

/** Printed at the start of a run. The same seed chooses the same members again. */
const seed = process.env.MAINSTEM_TEST_SEED ?? ''

/** `count` members of a list, other ones in each run, in their order; with `CI_LONG=1` all of them. */
export function someOf<Item>(items: readonly Item[], count: number): readonly Item[] {
  if (isLong || items.length <= count) return items
  // Each list begins elsewhere, whichever tests run before.
  const digest = createHash('sha256').update(`${seed} ${items.length} ${items.join()}`).digest()
  const from = digest.readUInt32BE(0) / 2 ** 32
  const chosen = Array.from(
    { length: count },
    (_, place) => items.slice(Math.floor(((place + from) * items.length) / count))[0],
  )
  return chosen.filter((item) => item !== undefined)
}
