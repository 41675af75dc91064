import type { Dialect, DialectOptions } from '../../dialects/dialect.ts'
import { mainstem } from '../../dialects/mainstem.ts'

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

/**
 * Where earlier readers of a log have come, so that the next one need not begin at its beginning. A projection is a
 * fold, so what it knows after an entry is the same for everybody, and a place that was forgotten is only made again.
 */
export class ProjectionCache<P extends Position = Position> {
  /** The last used are the last. */
  readonly #kept = new Map<string, P[]>()

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
    const others = (this.#kept.get(key) ?? []).filter(({ seq }) => seq !== place.seq)
    this.#remember(key, [...others, place])
  }

  #remember(key: string, places: P[]): void {
    this.#kept.delete(key)
    this.#kept.set(key, places.slice(-PLACES))
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > LOGS && oldest !== undefined) this.#kept.delete(oldest)
  }
}

function later<P extends Position>(one: P | undefined, other: P): P {
  return one && one.seq > other.seq ? one : other
}
