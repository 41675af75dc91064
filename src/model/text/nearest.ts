/** The word that was most likely meant, if one is close, in any case. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  let best: string | undefined
  let least = Math.max(2, Math.floor(word.length / 3)) + 1
  const wanted = word.toLowerCase()
  for (const candidate of words) {
    const distance = editDistance(wanted, candidate.toLowerCase())
    if (distance < least) [best, least] = [candidate, distance]
  }
  return best ?? words.find((candidate) => contains(wanted, candidate.toLowerCase()))
}

/** The shortest word that says enough to be meant as a part of another, such as `signal` of `abortSignal`. */
const PART = 5

function contains(one: string, other: string): boolean {
  return Math.min(one.length, other.length) >= PART && (one.includes(other) || other.includes(one))
}

/** How many characters to insert, remove, replace or swap. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1]
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1))
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1)
      row.push(cost)
    }
    beforeLast = last
    last = row
  }
  return last[to.length] ?? 0
}
