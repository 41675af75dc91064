import { type Random, randomFrom } from '../../../faults/random.ts'
import { MainstemError } from '../../../src/model/index.ts'
import { FIRST_FENCE, type Store } from '../../../src/stores/store.ts'

/**
 * Faults that a simulation must find. `skipped-wake`: a subscriber that waits for the log misses one change.
 * `unfenced-append`: an owner that was replaced writes on with the fence and at the place of the new one.
 * `unfenced-record`: the same, but only for batches without entries.
 */
export const PLANTS = ['skipped-wake', 'unfenced-append', 'unfenced-record'] as const
export type Plant = (typeof PLANTS)[number]

const WRITES: ReadonlySet<string | symbol> = new Set(['append', 'create', 'acquire', 'trim', 'delete'])

/** The store as one owner sees it. */
export interface OwnedStore {
  store: Store
  /** The owner is gone: its requests are never answered. */
  kill(): void
  /** The owner cannot reach the store: its requests fail until `heal`. */
  cut(): void
  heal(): void
  /** Storage refuses the next commit of this session. */
  refuse(session: string): void
}

/** `fences` are the current fences of all sessions, for faults that ignore them; owners of one store share it. */
export function ownedStore(
  store: Store,
  seed: number,
  plant?: Plant,
  fences: Map<string, number> = new Map(),
): OwnedStore {
  let owner: 'alive' | 'killed' | 'cut' = 'alive'
  const refused = new Set<string>()
  const changed = plant === 'skipped-wake' ? skipping(store, randomFrom(seed)) : undefined
  const append = appending(store, refused, plant, fences)
  const create: Store['create'] = async (session, ...rest) => {
    const held = await store.create(session, ...rest)
    fences.set(session, FIRST_FENCE)
    return held
  }
  const acquire: Store['acquire'] = async (session, ...rest) => {
    const lease = await store.acquire(session, ...rest)
    fences.set(session, lease.fence)
    return lease
  }
  const own = new Map<string | symbol, unknown>(Object.entries({ changed, append, create, acquire }))
  const owned = new Proxy(store, {
    get(target, name) {
      const value: unknown = own.get(name) ?? Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (name === 'changed') return value.bind(target)
      return (...args: unknown[]) => {
        if (owner === 'killed' && WRITES.has(name)) return new Promise(() => undefined)
        if (owner === 'cut') return Promise.reject(new MainstemError('storage_failed', 'no connection'))
        return value.apply(target, args)
      }
    },
  })
  return {
    store: owned,
    kill() {
      owner = 'killed'
    },
    cut() {
      owner = 'cut'
    },
    heal() {
      owner = 'alive'
    },
    refuse(session) {
      refused.add(session)
    },
  }
}

/** Appends, unless the session's next commit is to fail; with a fault where there is one. */
function appending(
  store: Store,
  refused: Set<string>,
  plant: Plant | undefined,
  fences: ReadonlyMap<string, number>,
): Store['append'] {
  return async (session, batch, fence) => {
    if (refused.delete(session)) throw new MainstemError('storage_failed', 'the disk is full')
    const isRecordOnly = batch.entries.length === 0
    if (plant !== 'unfenced-append' && !(plant === 'unfenced-record' && isRecordOnly)) {
      return store.append(session, batch, fence)
    }
    const head = await store.head(session)
    const entries = batch.entries.map((entry, index) => ({ ...entry, seq: head + 1 + index }))
    await store.append(session, { ...batch, entries }, fences.get(session))
  }
}

function skipping(store: Store, random: Random): Store['changed'] {
  return async (session, after, signal) => {
    await store.changed(session, after, signal)
    if (random() < 0.1) await store.changed(session, await store.head(session), signal)
  }
}
