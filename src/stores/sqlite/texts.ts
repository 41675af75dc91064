/** Texts on their way to another thread, each with so many numbers: two lists cross it at less cost than many rows. */
export interface Texts {
  texts: string[]
  numbers: number[]
}

export function addText(list: Texts, text: string, ...numbers: readonly number[]): void {
  list.texts.push(text)
  list.numbers.push(...numbers)
}

/** The texts again, in order; `width` is how many numbers each was given. */
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
