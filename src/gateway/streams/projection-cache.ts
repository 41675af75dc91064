import type { Dialect, DialectOptions } from '../../dialects/dialect.ts'
import { mainstem } from '../../dialects/mainstem.ts'
import { contentSize } from '../../model/text/content-size.ts'

interface CachedProjection {
  id: string
  dialect: Dialect
  options: DialectOptions
  /** The last entry before the projection. */
  from: number
}

/**
 * The cache key of a projection. The native dialect can start anywhere, and projections with options are rarely
 * repeated, so neither is cached.
 */
export function projectionKey({ id, dialect, options, from }: CachedProjection): string | undefined {
  if (dialect === mainstem || Object.keys(options).length > 0) return undefined
  return `${id} ${dialect.id} ${from}`
}

/** A projection's state after an entry. */
export interface ProjectionState {
  seq: number
  state: unknown
}

/** Returns undefined when the state cannot be cloned: it may contain agent data with thousands of levels. */
export function copyOf<P extends ProjectionState>(position: P): P | undefined {
  try {
    return structuredClone(position)
  } catch {
    return undefined
  }
}

/** The number of cached logs, and of positions per log. */
const LOGS = 100
const POSITIONS_PER_LOG = 4

/** The total size of all cached states, and the maximum of one; larger states are recomputed. */
const CACHE_BYTES = 32 * 1024 * 1024
const STATE_BYTES = 4 * 1024 * 1024

/**
 * Caches projection states, so that the next subscriber need not start at the first entry. A projection is a fold, so
 * its state after an entry is the same for all subscribers, and an evicted one can be recomputed.
 */
export class ProjectionCache<P extends ProjectionState = ProjectionState> {
  /** In order of use, most recent last. */
  readonly #kept = new Map<string, P[]>()
  readonly #sizes = new WeakMap<P, number>()

  /** Returns a copy of the last matching position, which the caller may advance. */
  find(key: string | undefined, fits: (position: P) => boolean): P | undefined {
    if (key === undefined) return undefined
    const positions = this.#kept.get(key) ?? []
    const found = positions.filter(fits).reduce<P | undefined>(later, undefined)
    if (!found) return undefined
    this.#remember(key, [...positions.filter((position) => position !== found), found])
    return copyOf(found)
  }

  /** Stores the position itself; a caller that continues from it must keep a copy. */
  keep(key: string | undefined, position: P | undefined): void {
    if (key === undefined || position === undefined) return
    const size = contentSize(position.state)
    if (size > STATE_BYTES) return
    this.#sizes.set(position, size)
    const others = (this.#kept.get(key) ?? []).filter(({ seq }) => seq !== position.seq)
    this.#remember(key, [...others, position])
  }

  #remember(key: string, positions: P[]): void {
    this.#kept.delete(key)
    this.#kept.set(key, positions.slice(-POSITIONS_PER_LOG))
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= LOGS && this.#bytes <= CACHE_BYTES) return
      this.#kept.delete(oldest)
    }
  }

  get #bytes(): number {
    let bytes = 0
    for (const positions of this.#kept.values()) {
      for (const position of positions) bytes += this.#sizes.get(position) ?? 0
    }
    return bytes
  }
}

function later<P extends ProjectionState>(one: P | undefined, other: P): P {
  return one && one.seq > other.seq ? one : other
}
