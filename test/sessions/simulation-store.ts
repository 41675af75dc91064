import { type Random, randomFrom } from '../../scripts/random.ts'
import { MainstemError } from '../../src/model/index.ts'
import type { Batch, Store } from '../../src/stores/store.ts'

/**
 * Faults that a simulation must find. `skipped-wake`: who waits for the log is not told of one change.
 * `unfenced-append`: an owner that was replaced goes on writing, and nothing looks at the place it writes to.
 */
export const PLANTS = ['skipped-wake', 'unfenced-append'] as const
export type Plant = (typeof PLANTS)[number]

/** The store as one owner sees it. */
export interface OwnedStore {
  store: Store
  /** The owner is gone: nothing it asks for is ever answered. */
  kill(): void
  /** Another owner has taken over: what this one writes is refused. */
  fence(): void
  /** Storage refuses the next commit of this session. */
  refuse(session: string): void
}

export function ownedStore(store: Store, seed: number, plant?: Plant): OwnedStore {
  let owner: 'alive' | 'killed' | 'fenced' = 'alive'
  const random = randomFrom(seed)
  const refused = new Set<string>()
  const written = (name: 'append' | 'create', write: () => unknown): (() => unknown) => {
    if (owner === 'alive')
      return name === 'append' ? (refusing(store, refused) as () => unknown) : write.bind(store)
    if (owner === 'killed') return () => new Promise(() => undefined)
    if (name === 'append' && plant === 'unfenced-append') return anywhere(store) as () => unknown
    return async () => {
      throw new MainstemError('conflict', 'another owner has taken over')
    }
  }
  const owned = new Proxy(store, {
    get(target, name) {
      if (name === 'changed' && plant === 'skipped-wake') return skipping(target, random)
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return name === 'append' || name === 'create'
        ? written(name, value as () => unknown)
        : value.bind(target)
    },
  })
  return {
    store: owned,
    kill() {
      owner = 'killed'
    },
    fence() {
      owner = 'fenced'
    },
    refuse(session) {
      refused.add(session)
    },
  }
}

/** Appends, unless the session's next commit is to fail. */
function refusing(store: Store, refused: Set<string>): Store['append'] {
  return async (session, batch, fence) => {
    if (refused.delete(session)) throw new MainstemError('storage_failed', 'the disk is full')
    await store.append(session, batch, fence)
  }
}

function skipping(store: Store, random: Random): Store['changed'] {
  return async (session, after, signal) => {
    await store.changed(session, after, signal)
    if (random() < 0.1) await store.changed(session, await store.head(session), signal)
  }
}

/** Takes whatever place is free, as if it had been meant. */
function anywhere(store: Store): Store['append'] {
  return async (session: string, batch: Batch, fence) => {
    const head = await store.head(session)
    const entries = batch.entries.map((entry, index) => ({ ...entry, seq: head + 1 + index }))
    await store.append(session, { ...batch, entries }, fence)
  }
}
