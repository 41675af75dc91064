/** The items that contain every word of a text, those where a word starts first. */
export function rank<Item>(items: readonly Item[], text: string, nameOf: (item: Item) => string): Item[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const scored = items.flatMap((item) => {
    const name = nameOf(item).toLowerCase()
    const places = words.map((word) => placeOf(name, word))
    return places.includes(-1) ? [] : [{ item, score: places.reduce((sum, place) => sum + place, 0) }]
  })
  return scored.sort((a, b) => a.score - b.score).map(({ item }) => item)
}

/** 0 at the start, 1 at the start of a word, 2 inside of one, -1 nowhere. */
function placeOf(name: string, word: string): number {
  if (name.startsWith(word)) return 0
  if (name.includes(` ${word}`)) return 1
  return name.includes(word) ? 2 : -1
}
