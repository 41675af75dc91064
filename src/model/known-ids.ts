/** So many characters at its end tell one id from another, nearly always. */
const END = 6

/**
 * Ids that were heard before. A set of strings would have the engine file every id it is asked for, which costs more
 * than reading it: they are found by a number made of their ends instead, and compared.
 */
export class KnownIds {
  readonly #prefix: string
  readonly #byEnd = new Map<number, string>()
  /** Those whose number another one has, without their prefix. */
  readonly #others = new Set<string>()

  /** An id is the same with this before it and without. */
  constructor(prefix = '') {
    this.#prefix = prefix
  }

  get size(): number {
    return this.#byEnd.size + this.#others.size
  }

  has(id: string): boolean {
    const known = this.#byEnd.get(this.#numberOf(id))
    return known !== undefined && (this.#isSame(known, id) || this.#others.has(this.#bare(id)))
  }

  /** Tells whether it is new. */
  add(id: string): boolean {
    const number = this.#numberOf(id)
    const known = this.#byEnd.get(number)
    if (known === undefined) {
      this.#byEnd.set(number, id)
      return true
    }
    if (this.#isSame(known, id)) return false
    const before = this.#others.size
    return this.#others.add(this.#bare(id)).size > before
  }

  /** As they were heard first, or without their prefix. */
  values(): string[] {
    return [...this.#byEnd.values(), ...this.#others]
  }

  /** The prefix is looked for only where it could be a part of the end. */
  #numberOf(id: string): number {
    return endNumber(id.length < END + this.#prefix.length ? this.#bare(id) : id)
  }

  #isSame(known: string, id: string): boolean {
    return known === id || (known.length !== id.length && this.#bare(known) === this.#bare(id))
  }

  #bare(id: string): string {
    return id.startsWith(this.#prefix) ? id.slice(this.#prefix.length) : id
  }
}

/** Spelled out: a loop takes twice as long, and this is done for every event. */
function endNumber(id: string): number {
  const end = id.length
  if (end < END) return shortNumber(id)
  const last =
    id.charCodeAt(end - 1) +
    (id.charCodeAt(end - 2) << 7) +
    (id.charCodeAt(end - 3) << 14) +
    (id.charCodeAt(end - 4) << 21)
  const before = id.charCodeAt(end - 5) + (id.charCodeAt(end - 6) << 7)
  return (last + Math.imul(before, 0x9e3779b1)) | 0
}

function shortNumber(id: string): number {
  let number = id.length
  for (let at = 0; at < id.length; at++) number = (Math.imul(number, 131) + id.charCodeAt(at)) | 0
  return number
}
