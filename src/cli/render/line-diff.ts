/** A line of two texts: of both, of the old one, or of the new one. */
export interface ComparedLine {
  sign: ' ' | '-' | '+'
  text: string
}

/** Above this product of lines, a comparison takes too long: the old text is then shown in front of the new one. */
const LARGEST = 1_000_000

/** Every line of both texts, with those that they share once: their longest common subsequence. */
export function compareLines(before: string | undefined, after: string | undefined): ComparedLine[] {
  const old = before?.split('\n') ?? []
  const fresh = after?.split('\n') ?? []
  let start = 0
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++
  let end = 0
  while (end < old.length - start && end < fresh.length - start && old.at(-1 - end) === fresh.at(-1 - end))
    end++
  return [
    ...signed(' ', old.slice(0, start)),
    ...changed(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end)),
    ...signed(' ', old.slice(old.length - end)),
  ]
}

function signed(sign: ComparedLine['sign'], lines: readonly string[]): ComparedLine[] {
  return lines.map((text) => ({ sign, text }))
}

function changed(old: readonly string[], fresh: readonly string[]): ComparedLine[] {
  if (old.length * fresh.length > LARGEST) return [...signed('-', old), ...signed('+', fresh)]
  // How many lines the rests have in common, for each pair of places.
  const width = fresh.length + 1
  const common = new Uint32Array((old.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] ?? 0
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = fresh.length - 1; j >= 0; j--)
      common[i * width + j] =
        old[i] === fresh[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const lines: ComparedLine[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < fresh.length) {
    const [left, right] = [old[i], fresh[j]]
    if (left !== undefined && left === right) {
      lines.push({ sign: ' ', text: left })
      i++
      j++
    } else if (right === undefined || (left !== undefined && at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ sign: '-', text: left ?? '' })
      i++
    } else {
      lines.push({ sign: '+', text: right })
      j++
    }
  }
  return lines
}
