/** The findings of a trial, by broken promise. */
export const KINDS = [
  'lost',
  'turns_lost',
  'repeated',
  'gap',
  'terminal',
  'text',
  'answer',
  'interrupt',
  'journal',
  'secret',
  'principal',
  'orphan',
  'fence',
  'takeover',
  'overlap',
] as const
export type Kind = (typeof KINDS)[number]

/** Violations in words, by kind. */
export class Findings {
  readonly #found = new Map<Kind, string[]>(KINDS.map((kind) => [kind, []]))

  add(kind: Kind, ...problems: readonly string[]): void {
    this.#found.get(kind)?.push(...problems)
  }

  of(kind: Kind): readonly string[] {
    return this.#found.get(kind) ?? []
  }

  /** Every violation with its kind in front. */
  get all(): string[] {
    return KINDS.flatMap((kind) => this.of(kind).map((problem) => `${kind}: ${problem}`))
  }

  /** `0 lost 0 repeated …` */
  get summary(): string {
    return KINDS.map((kind) => `${this.of(kind).length} ${kind}`).join(' ')
  }
}
