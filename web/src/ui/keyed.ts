/** Items with a React key each: the name of the item, and a count where several have one name. */
export function keyed<Item>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
): (readonly [key: string, item: Item])[] {
  const counts = new Map<string, number>()
  return items.map((item) => {
    const name = nameOf(item)
    const count = counts.get(name) ?? 0
    counts.set(name, count + 1)
    return [`${count} ${name}`, item]
  })
}
