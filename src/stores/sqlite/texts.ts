/** Texts for another thread, each with a fixed number of numbers. Posting two lists is cheaper than many rows. */
export interface Texts {
  texts: string[]
  numbers: number[]
}

export function addText(list: Texts, text: string, ...numbers: readonly number[]): void {
  list.texts.push(text)
  list.numbers.push(...numbers)
}

/** Iterates over the texts; `width` is the count of numbers per text. */
export function* eachText(
  { texts, numbers }: Texts,
  width: number,
): Generator<[text: string, numbers: number[]]> {
  let at = 0
  for (const text of texts) {
    yield [text, numbers.slice(at, at + width)]
    at += width
  }
}
