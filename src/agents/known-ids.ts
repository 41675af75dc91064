/** The characters at the end of an id that nearly always differ between two ids. */
const END = 6

/** A set of ids. Finds an id by a hash of its last characters and compares the ids themselves. */
export class KnownIds {
  readonly #prefix: string
  readonly #byHash = new Map<number, string>()
  /** Ids whose hash another id has, without their prefix. */
  readonly #others = new Set<string>()

  /** An id with this prefix equals the same id without it. */
  constructor(prefix = '') {
    this.#prefix = prefix
  }

  get size(): number {
    return this.#byHash.size + this.#others.size
  }

  has(id: string): boolean {
    const known = this.#byHash.get(this.#hashOf(id))
    return known !== undefined && (this.#isSame(known, id) || this.#others.has(this.#bare(id)))
  }

  /** Returns whether the id is new. */
  add(id: string): boolean {
    const hash = this.#hashOf(id)
    const known = this.#byHash.get(hash)
    if (known === undefined) {
      this.#byHash.set(hash, id)
      return true
    }
    if (this.#isSame(known, id)) return false
    const before = this.#others.size
    return this.#others.add(this.#bare(id)).size > before
  }

  /** Each id as it was added first, or without its prefix. */
  values(): string[] {
    return [...this.#byHash.values(), ...this.#others]
  }

  /** Removes the prefix only from ids so short that it overlaps the hashed end. */
  #hashOf(id: string): number {
    return endHash(id.length < END + this.#prefix.length ? this.#bare(id) : id)
  }

  #isSame(known: string, id: string): boolean {
    return known === id || (known.length !== id.length && this.#bare(known) === this.#bare(id))
  }

  #bare(id: string): string {
    return id.startsWith(this.#prefix) ? id.slice(this.#prefix.length) : id
  }
}

/** Unrolled, because it runs for every event and a loop takes twice as long. */
function endHash(id: string): number {
  const end = id.length
  if (end < END) return shortHash(id)
  const last =
    id.charCodeAt(end - 1) +
    (id.charCodeAt(end - 2) << 7) +
    (id.charCodeAt(end - 3) << 14) +
    (id.charCodeAt(end - 4) << 21)
  const before = id.charCodeAt(end - 5) + (id.charCodeAt(end - 6) << 7)
  return (last + Math.imul(before, 0x9e3779b1)) | 0
}

function shortHash(id: string): number {
  let hash = id.length
  for (let at = 0; at < id.length; at++) hash = (Math.imul(hash, 131) + id.charCodeAt(at)) | 0
  return hash
}
