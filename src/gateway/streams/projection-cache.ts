import type { Dialect, DialectOptions } from '../../dialects/dialect.ts'
import { mainstem } from '../../dialects/mainstem.ts'
import { contentSize } from '../../model/content-size.ts'

interface Folded {
  id: string
  dialect: Dialect
  options: DialectOptions
  /** The last entry that is not part of it. */
  from: number
}

/**
 * The name of a projection whose places are worth keeping. Our own dialect can begin anywhere, and what one is asked
 * for besides is seldom asked for twice.
 */
export function projectionKey({ id, dialect, options, from }: Folded): string | undefined {
  if (dialect === mainstem || Object.keys(options).length > 0) return undefined
  return `${id} ${dialect.id} ${from}`
}

/** How far a projection has come: what it knows after an entry. */
export interface Position {
  seq: number
  state: unknown
}

/** Nothing where it cannot be copied: it may hold something of an agent that is thousands of levels deep. */
export function copyOf<P extends Position>(place: P): P | undefined {
  try {
    return structuredClone(place)
  } catch {
    return undefined
  }
}

/** Logs that are remembered, and places in each of them. */
const LOGS = 100
const PLACES = 4

/** How large all states are together, and a single one; a larger one is projected again. */
const CACHE_BYTES = 32 * 1024 * 1024
const STATE_BYTES = 4 * 1024 * 1024

/**
 * Where earlier readers of a log have come, so that the next one need not begin at its beginning. A projection is a
 * fold, so what it knows after an entry is the same for everybody, and a place that was forgotten is only made again.
 */
export class ProjectionCache<P extends Position = Position> {
  /** The last used are the last. */
  readonly #kept = new Map<string, P[]>()
  readonly #sizes = new WeakMap<P, number>()

  /** A copy of the last place that fits, to go on from. */
  find(key: string | undefined, fits: (place: P) => boolean): P | undefined {
    if (key === undefined) return undefined
    const places = this.#kept.get(key) ?? []
    const found = places.filter(fits).reduce<P | undefined>(later, undefined)
    if (!found) return undefined
    this.#remember(key, [...places.filter((place) => place !== found), found])
    return copyOf(found)
  }

  /** It is kept itself, so whoever wants to go on from there keeps a copy. */
  keep(key: string | undefined, place: P | undefined): void {
    if (key === undefined || place === undefined) return
    const size = contentSize(place.state)
    if (size > STATE_BYTES) return
    this.#sizes.set(place, size)
    const others = (this.#kept.get(key) ?? []).filter(({ seq }) => seq !== place.seq)
    this.#remember(key, [...others, place])
  }

  #remember(key: string, places: P[]): void {
    this.#kept.delete(key)
    this.#kept.set(key, places.slice(-PLACES))
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= LOGS && this.#bytes <= CACHE_BYTES) return
      this.#kept.delete(oldest)
    }
  }

  get #bytes(): number {
    let bytes = 0
    for (const places of this.#kept.values()) {
      for (const place of places) bytes += this.#sizes.get(place) ?? 0
    }
    return bytes
  }
}

function later<P extends Position>(one: P | undefined, other: P): P {
  return one && one.seq > other.seq ? one : other
}
