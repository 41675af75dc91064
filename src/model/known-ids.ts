/** So many characters at its end tell one id from another, nearly always. */
const END = 8

/**
 * Ids that were heard before. A set of strings would have the engine file every id it is asked for, which costs more
 * than reading it: they are found by a number made of their ends instead, and compared.
 */
export class KnownIds {
  readonly #byEnd = new Map<number, string>()
  /** Those whose number another one has. */
  readonly #others = new Set<string>()

  get size(): number {
    return this.#byEnd.size + this.#others.size
  }

  has(id: string): boolean {
    const known = this.#byEnd.get(numberOf(id))
    return known !== undefined && (known === id || this.#others.has(id))
  }

  /** Tells whether it is new. */
  add(id: string): boolean {
    const number = numberOf(id)
    const known = this.#byEnd.get(number)
    if (known === undefined) {
      this.#byEnd.set(number, id)
      return true
    }
    if (known === id || this.#others.has(id)) return false
    this.#others.add(id)
    return true
  }

  values(): string[] {
    return [...this.#byEnd.values(), ...this.#others]
  }
}

function numberOf(id: string): number {
  let number = id.length
  for (let at = Math.max(0, id.length - END); at < id.length; at++) {
    number = (Math.imul(number, 131) + id.charCodeAt(at)) | 0
  }
  return number
}
