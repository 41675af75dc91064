/** With `CI_LONG=1` the tests search as long as they can; without it each search is short. */
const isLong = process.env.CI_LONG === '1'

/** How many cases a search tries: `usual` in each run of the tests, `long` with `CI_LONG=1`. */
export const runs = (usual: number, long: number): number => (isLong ? long : usual)

/** `count` members of a list, other ones in each run, in their order; with `CI_LONG=1` all of them. */
export function someOf<Item>(items: readonly Item[], count: number): readonly Item[] {
  if (isLong || items.length <= count) return items
  const from = Math.random()
  const chosen = Array.from(
    { length: count },
    (_, place) => items.slice(Math.floor(((place + from) * items.length) / count))[0],
  )
  return chosen.filter((item) => item !== undefined)
}
