import type { Site } from './sites.ts'

/** A mutation with a number, which switches it on. */
export interface Mutant extends Site {
  readonly id: number
  readonly file: string
  readonly line: number
}

interface Nested {
  readonly mutants: Mutant[]
  readonly inner: Nested[]
  readonly start: number
  readonly end: number
}

/**
 * Writes all mutants into one source, each behind a switch, so that a test run chooses one without a new build. Only
 * one is on at a time, so the mutated branch contains the original text of its inner parts.
 */
export function schemata(source: string, mutants: readonly Mutant[]): string {
  return render(source, nest(source, mutants))
}

function nest(source: string, mutants: readonly Mutant[]): Nested {
  const root: Nested = { mutants: [], inner: [], start: 0, end: source.length }
  const sorted = mutants.toSorted((a, b) => a.start - b.start || b.end - a.end || order(a) - order(b))
  const path = [root]
  for (const mutant of sorted) {
    let top = path.at(-1) ?? root
    while (mutant.start >= top.end && path.length > 1) {
      path.pop()
      top = path.at(-1) ?? root
    }
    const isSame =
      top !== root &&
      top.start === mutant.start &&
      top.end === mutant.end &&
      top.mutants[0]?.kind === mutant.kind
    if (isSame) top.mutants.push(mutant)
    else {
      const next: Nested = { mutants: [mutant], inner: [], start: mutant.start, end: mutant.end }
      top.inner.push(next)
      path.push(next)
    }
  }
  return root
}

/** A statement is outside of the expression that it consists of. */
function order({ kind }: Mutant): number {
  return kind === 'statement' ? 0 : 1
}

function render(source: string, { mutants, inner, start, end }: Nested): string {
  let [text, at] = ['', start]
  for (const part of inner) {
    text += source.slice(at, part.start) + render(source, part)
    at = part.end
  }
  text += source.slice(at, end)
  for (const mutant of mutants) text = switched(mutant, text)
  return text
}

function switched({ id, kind, text: mutated }: Mutant, original: string): string {
  if (kind === 'statement') return `{ if (globalThis.isMutant(${id})) { ${mutated} } else { ${original} } }`
  return `(globalThis.isMutant(${id}) ? (${mutated}) : (${original}))`
}
