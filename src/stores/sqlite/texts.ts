/** Many texts as one, each with so many numbers: crossing to another thread then costs once. */
export interface Texts {
  text: string
  /** For each text its numbers, then its length. */
  marks: number[]
}

export function addText(texts: Texts, text: string, ...numbers: readonly number[]): void {
  texts.text += text
  texts.marks.push(...numbers, text.length)
}

export function countTexts({ marks }: Texts, width: number): number {
  return marks.length / (width + 1)
}

/** The texts again, in order; `width` is how many numbers each was given. */
export function* eachText(
  { text, marks }: Texts,
  width: number,
): Generator<[text: string, numbers: number[]]> {
  let at = 0
  for (let index = 0; index < marks.length; index += width + 1) {
    const end = at + (marks[index + width] ?? 0)
    yield [text.slice(at, end), marks.slice(index, index + width)]
    at = end
  }
}
